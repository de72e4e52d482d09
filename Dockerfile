# The program alone, on a base that has a C library and certificates and no shell.
FROM rust:1.95-bookworm AS build
WORKDIR /alula
COPY . .
RUN cargo rustc --locked --profile dist --package alula-cli -- -C link-arg=-Wl,-z,pack-relative-relocs

FROM gcr.io/distroless/cc-debian12:nonroot
COPY --from=build /alula/target/dist/alula /usr/bin/alula
# A server in a container listens for others: `docker run -p 8080:8080 -v "$PWD:/srv:ro" alula`.
WORKDIR /srv
EXPOSE 8080
ENTRYPOINT ["/usr/bin/alula"]
CMD ["serve", "/srv", "--listen", "0.0.0.0:8080"]
