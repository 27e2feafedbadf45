# cmake --install, and the Debian package of cpack: scripts/package.sh.
include(GNUInstallDirs)
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)  # a package needs the daemon, not the tests

install(TARGETS prefix-router RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES config/prefix-router.yaml DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
install(DIRECTORY config/prometheus config/grafana DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
install(FILES README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
# Of the package only: cmake --install must not overwrite a configuration.
install(FILES packaging/debian/prefix-router.yaml DESTINATION /etc/prefix-router COMPONENT service EXCLUDE_FROM_ALL)
install(FILES packaging/systemd/prefix-router.service packaging/systemd/prefix-router.socket
              packaging/systemd/prefix-router-admin.socket
        DESTINATION lib/systemd/system COMPONENT service EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB)
set(CPACK_INSTALL_CMAKE_PROJECTS "${CMAKE_BINARY_DIR};${PROJECT_NAME};ALL;/;${CMAKE_BINARY_DIR};${PROJECT_NAME};service;/")
set(CPACK_SET_DESTDIR ON)  # for /etc beside /usr
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_CONTACT "The prefix-router authors <root@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_PACKAGE_DESCRIPTION
    "One URL in front of LLM inference servers. It reads each prompt, remembers which server already holds that\
 prompt's prefix in its KV cache, and sends the request where it will be answered soonest.")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "adduser, init-system-helpers")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
    ${PROJECT_SOURCE_DIR}/packaging/debian/conffiles ${PROJECT_SOURCE_DIR}/packaging/debian/postinst
    ${PROJECT_SOURCE_DIR}/packaging/debian/prerm ${PROJECT_SOURCE_DIR}/packaging/debian/postrm)
include(CPack)
