module alula/conformance

go 1.24
