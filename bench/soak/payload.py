"""What every answer of a soak must be, to the byte: a function of the request's tag, known to both sides."""
import json
import random
import zlib

BLOCK = 65536
_NOISE = random.Random(1).randbytes(2 * BLOCK)
MODEL = "soak"


def noise(tag, size):
    """`size` bytes that no other tag has."""
    mark = b"<%s>" % tag.encode()
    offset = zlib.crc32(mark) % BLOCK
    block = mark + _NOISE[offset:offset + BLOCK - len(mark)]
    return (block * (size // BLOCK + 1))[:size]


def words(tag, count):
    return ["%s-%d " % (tag, i) for i in range(count)]


def usage(prompt_tokens, cached, count):
    return {"prompt_tokens": prompt_tokens, "completion_tokens": count, "total_tokens": prompt_tokens + count,
            "prompt_tokens_details": {"cached_tokens": cached}}


def chat_answer(tag, count, told):
    message = {"role": "assistant", "content": "".join(words(tag, count))}
    return json.dumps({"id": tag, "object": "chat.completion", "model": MODEL, "usage": told,
                       "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode()


def chat_events(tag, count, told):
    """The events of a streamed answer, one by one."""
    for i, word in enumerate(words(tag, count)):
        delta = {"content": word} if i else {"role": "assistant", "content": word}
        yield event({"id": tag, "object": "chat.completion.chunk", "model": MODEL,
                     "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    yield event({"id": tag, "object": "chat.completion.chunk", "model": MODEL,
                 "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": told})
    yield b"data: [DONE]\n\n"


def event(value):
    return b"data: %s\n\n" % json.dumps(value).encode()


def chunk(piece):
    return b"%x\r\n%s\r\n" % (len(piece), piece)


def checksum(body):
    return "%08x" % zlib.crc32(body)
