"""A Kerberos realm of the tests' own: a KDC on loopback, and principals with keys in files."""

import contextlib
import os
import shutil
import socket
import subprocess
import time

#: Where Debian has the server's programs; an ordinary user's PATH may lack it.
PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin"
PROGRAMS = ("krb5kdc", "kdb5_util", "kadmin.local")
NAME = "CQLPATH.TEST"
CLIENT = """[libdefaults]
  default_realm = {name}
  dns_lookup_realm = false
  dns_lookup_kdc = false
  dns_canonicalize_hostname = false
  rdns = false
  udp_preference_limit = 1
[realms]
  {name} = {{
    kdc = 127.0.0.1:{port}
  }}
"""
SERVER = """[kdcdefaults]
  kdc_listen = ""
  kdc_tcp_listen = 127.0.0.1:{port}
[realms]
  {name} = {{
    database_name = {folder}/principals
    key_stash_file = {folder}/stash
    acl_file = {folder}/acl
    supported_enctypes = aes256-cts:normal
  }}
"""


def missing():
    """Why there can be no realm here; empty if there can."""
    lacking = [name for name in PROGRAMS if shutil.which(name, path=PATH) is None]
    if not lacking:
        return ""
    return f"{', '.join(lacking)} not found: install krb5-kdc and krb5-admin-server (Debian)"


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


def listens(port):
    with socket.socket() as probe:
        return not probe.connect_ex(("127.0.0.1", port))


class Realm:
    """Its files lie in a folder.

    Attributes:
        configuration: krb5.conf, for clients and servers.
        environment: names it to programs.
    """

    def __init__(self, folder):
        self.folder, self.port = folder, free_port()
        self.configuration = folder / "krb5.conf"
        self.configuration.write_text(CLIENT.format(name=NAME, port=self.port))
        profile = folder / "kdc.conf"
        profile.write_text(SERVER.format(name=NAME, port=self.port, folder=folder))
        self.environment = {
            "KRB5_CONFIG": str(self.configuration),
            "KRB5_KDC_PROFILE": str(profile),
        }

    def run(self, *command):
        subprocess.run(
            command,
            env={**os.environ, **self.environment, "PATH": PATH},
            check=True,
            capture_output=True,
            timeout=60,
        )

    def add(self, principal):
        """A new principal; the file of its key."""
        keys = self.folder / f"{principal.replace('/', '-')}.keytab"
        self.run("kadmin.local", "-r", NAME, "addprinc", "-randkey", principal)
        self.run("kadmin.local", "-r", NAME, "ktadd", "-k", str(keys), principal)
        return keys

    @contextlib.contextmanager
    def serving(self):
        """Make the database, and answer on loopback meanwhile."""
        self.run("kdb5_util", "-r", NAME, "create", "-s", "-P", "the tests' own")
        with (self.folder / "kdc.log").open("wb") as log:
            process = subprocess.Popen(
                ["krb5kdc", "-n", "-r", NAME],
                env={**os.environ, **self.environment, "PATH": PATH},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        try:
            end = time.monotonic() + 30
            while not listens(self.port):
                assert process.poll() is None, (self.folder / "kdc.log").read_text()
                assert time.monotonic() < end, "the KDC does not listen"
                time.sleep(0.05)
            yield self
        finally:
            process.terminate()
            process.wait(timeout=30)
