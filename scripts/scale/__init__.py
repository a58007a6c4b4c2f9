"""What `scripts/site-scale` and the tests of the history are made of."""
