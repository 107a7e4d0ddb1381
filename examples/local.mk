# Whole programs with their data: in the tarball, not installed.
EXTRA_DIST += examples/README.md examples/answers examples/c-embed examples/gpu-axpy examples/gpu-gmm examples/gpu-stencil examples/logistic examples/nist examples/softmax
