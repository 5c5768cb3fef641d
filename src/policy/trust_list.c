/* trust_list.c - see trust_list.h. */
#include "policy/trust_list.h"

#include <stddef.h>

const char *const trust_list_bundles[] = {
        TRUST_LIST_BUNDLE,                  /* Debian, Arch, Alpine, Gentoo, Nix */
        "/etc/pki/tls/certs/ca-bundle.crt", /* Fedora, RHEL */
        "/etc/pki/tls/cert.pem",
        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
        "/etc/ssl/ca-bundle.pem", /* openSUSE */
        "/etc/ssl/cert.pem",
        NULL,
};

const char *const trust_list_java[] = {
        TRUST_LIST_JAVA,
        "/etc/pki/java/cacerts",
        NULL,
};

const char *const trust_list_jdks[] = {
        "~/.sdkman/candidates/java",
        "~/.jdks",
        "/opt/java",
        NULL,
};

const char *const trust_list_browsers[] = {
        "/usr/bin/chromium",      "/usr/bin/chromium-browser", "/usr/bin/google-chrome",
        "/usr/bin/brave-browser", "/usr/bin/microsoft-edge",   "/opt/google/chrome",
        "/usr/bin/firefox",       "/usr/bin/firefox-esr",      NULL,
};

const char *const trust_list_policies[] = {
        "/etc/chromium/policies/managed/ostiary.json",
        "/etc/opt/chrome/policies/managed/ostiary.json",
        "/etc/opt/edge/policies/managed/ostiary.json",
        "/etc/brave/policies/managed/ostiary.json",
        NULL,
};

const char *const trust_list_nss[] = {
        "~/.cache/ms-playwright",
        "~/.cache/puppeteer",
        NULL,
};
