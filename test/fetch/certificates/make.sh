#!/bin/sh
# Makes the certificates of this folder anew; the tests need nothing but the files. They begin in the past, so that a
# machine whose clock is late accepts them too.
set -e
cd "$(dirname "$0")"
work=$(mktemp -d)
touch "$work/index"
cat > "$work/config" <<CONFIG
[ca]
default_ca = test
[test]
database = $work/index
new_certs_dir = $work
rand_serial = yes
default_md = sha256
default_startdate = 20200101000000Z
default_enddate = 21200101000000Z
policy = any
[any]
commonName = supplied
[ca-ext]
basicConstraints = critical,CA:TRUE
keyUsage = critical,keyCertSign
[server-ext]
subjectAltName = DNS:localhost,IP:127.0.0.1
[other-ext]
subjectAltName = DNS:elsewhere.example
[client-ext]
extendedKeyUsage = clientAuth
CONFIG

sign() { # name, common name, who signs
  openssl ecparam -name prime256v1 -genkey -noout -out "$1.key"
  openssl req -new -key "$1.key" -subj "/CN=$2" -out "$work/$1.csr"
  openssl ca -batch -notext -config "$work/config" -extensions "$1-ext" -in "$work/$1.csr" -out "$1.pem" $3
}
sign ca 'Kumo test authority' '-selfsign -keyfile ca.key'
for each in server:localhost other:elsewhere.example client:crawler; do
  sign "${each%%:*}" "${each#*:}" '-cert ca.pem -keyfile ca.key'
done
rm -rf "$work" ca.key
