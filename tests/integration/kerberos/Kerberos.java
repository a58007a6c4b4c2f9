import java.net.InetAddress;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import javax.security.auth.callback.Callback;
import javax.security.sasl.AuthorizeCallback;
import javax.security.sasl.Sasl;
import javax.security.sasl.SaslException;
import javax.security.sasl.SaslServer;
import org.apache.cassandra.auth.AuthenticatedUser;
import org.apache.cassandra.auth.IAuthenticator;
import org.apache.cassandra.auth.IResource;
import org.apache.cassandra.exceptions.AuthenticationException;
import org.apache.cassandra.utils.FBUtilities;

/** Asks for GSSAPI by Java's own SASL; the role is the client's principal without its realm. */
public class Kerberos implements IAuthenticator {
    private static final String SERVICE = "cql";

    public boolean requireAuthentication() {
        return true;
    }

    public Set<? extends IResource> protectedResources() {
        return Collections.emptySet();
    }

    public void validateConfiguration() {}

    public void setup() {}

    public AuthenticatedUser legacyAuthenticate(Map<String, String> credentials) {
        throw new AuthenticationException("only GSSAPI");
    }

    public SaslNegotiator newSaslNegotiator(InetAddress client) {
        try {
            return new Negotiator();
        } catch (SaslException failure) {
            throw new AuthenticationException(String.valueOf(failure));
        }
    }

    private static class Negotiator implements SaslNegotiator {
        private final SaslServer server;

        Negotiator() throws SaslException {
            server = Sasl.createSaslServer(
                    "GSSAPI",
                    SERVICE,
                    FBUtilities.getJustBroadcastAddress().getHostAddress(),
                    Map.of(Sasl.QOP, "auth"),
                    callbacks -> {
                        for (Callback each : callbacks) {
                            AuthorizeCallback asked = (AuthorizeCallback) each;
                            asked.setAuthorized(
                                    asked.getAuthenticationID().equals(asked.getAuthorizationID()));
                        }
                    });
        }

        public byte[] evaluateResponse(byte[] token) {
            try {
                byte[] challenge = server.evaluateResponse(token);
                return challenge == null ? new byte[0] : challenge;
            } catch (SaslException failure) {
                throw new AuthenticationException(String.valueOf(failure));
            }
        }

        public boolean isComplete() {
            return server.isComplete();
        }

        public AuthenticatedUser getAuthenticatedUser() {
            return new AuthenticatedUser(server.getAuthorizationID().split("@")[0]);
        }
    }
}
