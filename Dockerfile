# Debian 12 with what the project needs, elsewhere: `docker build -t toy . && docker run -it --rm toy` runs the tour; `… toy make test` the tests.
FROM debian:12
RUN apt-get update && apt-get install -y --no-install-recommends make && rm -rf /var/lib/apt/lists/*
WORKDIR /toy
COPY scripts/install-packages scripts/packages.txt scripts/
RUN scripts/install-packages
COPY . .
RUN make build
CMD ["make", "run"]
