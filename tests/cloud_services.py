"""What stands in front of a cluster that is reached by a secure connect bundle, for tests.

A service that says by HTTPS, to clients with a certificate, where the proxy is and which nodes
there are; and the bundle, a zip file as drivers are given one.
"""

import json
import ssl
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def server_context(authority, *names):
    """A context of a server that wants a client's certificate of the same authority."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*names).configure_cert(context)
    authority.configure_trust(context)
    context.verify_mode = ssl.CERT_REQUIRED
    return context


class MetadataService:
    """Answers ``GET /metadata``; ``answer`` is the body, ``status`` its status."""

    def __init__(self, context, proxy_port, host_ids):
        contact = {
            "type": "sni_proxy",
            "local_dc": "dc1",
            "sni_proxy_address": f"localhost:{proxy_port}",
            "contact_points": list(host_ids),
        }
        self.answer = json.dumps({"version": 1, "region": "r", "contact_info": contact}).encode()
        self.status = 200
        self.asked = []
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                service.asked.append(self.path)
                self.send_response(service.status)
                self.send_header("Content-Length", str(len(service.answer)))
                self.end_headers()
                self.wfile.write(service.answer)

            def log_message(self, *_):
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def write_bundle(path, authority, **config):
    """A bundle with a client's certificate of an authority."""
    client = authority.issue_cert("client@example.org")
    parts = {
        "config.json": json.dumps(config).encode(),
        "ca.crt": authority.cert_pem.bytes(),
        "cert": client.cert_chain_pems[0].bytes(),
        "key": client.private_key_pem.bytes(),
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return path
