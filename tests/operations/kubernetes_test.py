#!/usr/bin/env python3
"""The manifests of config/kubernetes follow the API's schemas, and hold what they promise.

usage: kubernetes_test.py ROUTER_BINARY CACHE_DIR

The schemas come with kubernetes-validate from PyPI, installed once into CACHE_DIR (22 MB to download).
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import schema_tools

CACHE, ROUTER = sys.argv.pop(2), sys.argv.pop(1)
schema_tools.use(CACHE)
import yaml  # of the venv

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "config/kubernetes").glob("*.yaml"))
VERSIONS = ("1.29", "1.37")  # the oldest promised and the newest known
UNITS = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}


def validator():
    return schema_tools.installed(CACHE) / "kubernetes-validate"


def objects(path, *kinds):
    return [each for each in yaml.safe_load_all(path.read_text()) if not kinds or each["kind"] in kinds]


def workloads(path):
    return objects(path, "Deployment", "StatefulSet")


def router_pods():
    """(file, workload, pod spec, the router's container) wherever a router runs."""
    for path in FILES:
        for workload in workloads(path):
            spec = workload["spec"]["template"]["spec"]
            for container in spec["containers"]:
                if container["name"] == "prefix-router":
                    yield path, workload, spec, container


def configuration(path, spec):
    """The router's own file, out of the ConfigMap that its pod mounts."""
    name = next(volume["configMap"]["name"] for volume in spec["volumes"] if "configMap" in volume)
    mapped, = (each for each in objects(path, "ConfigMap") if each["metadata"]["name"] == name)
    return mapped["data"]["prefix-router.yaml"]


def to_bytes(text):
    number, unit = re.fullmatch(r"(\d+)(\w+)", text).groups()
    return int(number) * UNITS[unit]


def to_seconds(text):
    number, unit = re.fullmatch(r"(\d+)([smh])", text).groups()
    return int(number) * {"s": 1, "m": 60, "h": 3600}[unit]


class Schemas(unittest.TestCase):
    def test_are_followed_strictly(self):
        tool = validator()
        for version in VERSIONS:
            done = subprocess.run([tool, "--strict", "-k", version, *FILES], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, f"{version}:\n{done.stdout}{done.stderr}")

    def test_refuse_a_misspelt_field(self):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write((ROOT / "config/kubernetes/router.yaml").read_text().replace("replicas:", "replica:"))
            file.flush()
            done = subprocess.run([validator(), "--strict", file.name], capture_output=True, text=True, check=False)
        self.assertNotEqual(done.returncode, 0)


class Routers(unittest.TestCase):
    def test_are_there(self):
        self.assertEqual([path.name for path, *_ in router_pods()], ["router.yaml", "sidecar.yaml"])

    def test_have_a_configuration_that_loads(self):
        for path, _, spec, container in router_pods():
            with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
                file.write(configuration(path, spec))
                file.flush()
                done = subprocess.run([ROUTER, "check", "--config", file.name], capture_output=True, text=True,
                                      check=False)
            self.assertEqual(done.returncode, 0, f"{path.name}: {done.stderr}")
            mounted = container["volumeMounts"][0]["mountPath"] + "/prefix-router.yaml"
            self.assertEqual(container["args"], ["--config", mounted])

    def test_have_no_privilege(self):
        for path, _, spec, container in router_pods():
            context = {**spec.get("securityContext", {}), **container["securityContext"]}
            self.assertIs(context["runAsNonRoot"], True, path.name)
            self.assertIs(context["readOnlyRootFilesystem"], True, path.name)
            self.assertIs(context["allowPrivilegeEscalation"], False, path.name)
            self.assertEqual(context["capabilities"], {"drop": ["ALL"]}, path.name)
            self.assertEqual(context["seccompProfile"], {"type": "RuntimeDefault"}, path.name)

    def test_may_do_what_discovery_needs_and_nothing_else(self):
        for path, _, spec, _ in router_pods():
            asks = "kubernetes" in yaml.safe_load(configuration(path, spec)).get("discovery", {})
            self.assertIs(spec["automountServiceAccountToken"], asks, path.name)
            self.assertEqual([role["rules"] for role in objects(path, "Role", "ClusterRole")],
                             [[{"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"],
                                "verbs": ["get", "list", "watch"]}]] if asks else [], path.name)
            bindings = objects(path, "RoleBinding", "ClusterRoleBinding")
            self.assertEqual([(each["kind"], each["subjects"]) for each in bindings],
                             [("RoleBinding", [{"kind": "ServiceAccount", "name": spec["serviceAccountName"]}])]
                             if asks else [], path.name)

    def test_find_the_service_and_port_that_the_engines_have(self):
        engines = ROOT / "config/kubernetes/engines.yaml"
        services = {each["metadata"]["name"]: each["spec"] for each in objects(engines, "Service")}
        for path, _, spec, _ in router_pods():
            for source in yaml.safe_load(configuration(path, spec)).get("discovery", {}).get("kubernetes", []):
                ports = [port.get("name") for port in services[source["service"]]["ports"]]
                self.assertIn(source["port"], ports, path.name)

    def test_may_drain_before_they_are_killed(self):
        for path, _, spec, _ in router_pods():
            timeouts = yaml.safe_load(configuration(path, spec))["timeouts"]
            needed = to_seconds(timeouts["drain_settle"]) + to_seconds(timeouts["drain_grace"])
            self.assertGreater(spec["terminationGracePeriodSeconds"], needed, path.name)

    def test_have_memory_for_what_they_may_hold(self):
        for path, _, spec, container in router_pods():
            limits = yaml.safe_load(configuration(path, spec))["limits"]
            held = to_bytes(limits["buffered_bytes"]) + to_bytes(limits["prefix_map_bytes"])
            self.assertGreater(to_bytes(container["resources"]["limits"]["memory"]), 1.5 * held, path.name)

    def test_are_probed_where_they_answer(self):
        for path, _, spec, container in router_pods():
            ports = {port["name"]: port["containerPort"] for port in container["ports"]}
            admin = yaml.safe_load(configuration(path, spec))["admin"]
            for probe, endpoint in (("livenessProbe", "/healthz"), ("readinessProbe", "/readyz")):
                asked = container[probe]["httpGet"]
                self.assertEqual(asked["path"], endpoint, path.name)
                self.assertEqual(admin, f"0.0.0.0:{ports[asked['port']]}", path.name)

    def test_know_every_server_by_its_own_name(self):
        engines = {service["metadata"]["name"]: service for path in FILES
                   for service in objects(path, "Service") if service["spec"].get("clusterIP") == "None"}
        for path, _, spec, _ in router_pods():
            for backend in yaml.safe_load(configuration(path, spec)).get("backends", []):
                _, service = re.match(r"http://(vllm-\d)\.([\w-]+):8000$", backend["url"]).groups()
                self.assertIn(service, engines, path.name)


class Objects(unittest.TestCase):
    def test_select_pods_that_exist(self):
        for path in FILES:
            labels = [each["spec"]["template"]["metadata"]["labels"] for each in workloads(path)]
            for each in objects(path, "Service", "PodDisruptionBudget", "NetworkPolicy"):
                spec = each["spec"]
                selector = spec.get("podSelector") or spec["selector"]
                self.assertIn(selector.get("matchLabels", selector), labels, f"{path.name}: {each['kind']}")

    def test_include_a_budget_and_a_policy_for_each_router(self):
        for path, *_ in router_pods():
            self.assertEqual(len(objects(path, "PodDisruptionBudget")), 1, path.name)
            self.assertEqual(len(objects(path, "NetworkPolicy")), 1, path.name)

    def test_pin_their_images(self):
        for path in FILES:
            for workload in workloads(path):
                for container in workload["spec"]["template"]["spec"]["containers"]:
                    self.assertRegex(container["image"], r":v?\d+\.\d+", path.name)


if __name__ == "__main__":
    unittest.main()
