"""Where data lives: endpoints, hosts, tokens, the ring, replicas, tablets and shards."""
