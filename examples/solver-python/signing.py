"""What a solver signs: hellos (EIP-191), quotes (EIP-712) and transactions (EIP-1559)."""

import hashlib
import json
import urllib.request

from Cryptodome.Hash import keccak
from ecdsa import SECP256k1, SigningKey, rfc6979

DOMAIN_TYPE = "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"
QUOTE_MEMBERS = (
    "address solver,address user,address inputToken,uint256 inputAmount,address outputToken,uint256 outputAmount,"
    "uint8 orderType,uint256 outputChainId,uint32 depositDeadline,uint32 fillDeadline,uint256 nonce"
)


def digest(*parts):
    """Returns the keccak256 of texts and bytes, one after the other."""
    data = b"".join(part.encode() if isinstance(part, str) else part for part in parts)
    return keccak.new(digest_bits=256, data=data).digest()


def word(number):
    """Returns a number in 32 bytes. It may also be text: decimal, or hex with 0x, such as an address."""
    return int(str(number), 0).to_bytes(32, "big")


def domain_separator(name, version, chain_id, contract):
    return digest(digest(DOMAIN_TYPE), digest(name), digest(version), word(chain_id), word(contract))


def read_key(private_key):
    """Returns the key, and its address in lower case."""
    key = SigningKey.from_string(bytes.fromhex(private_key.removeprefix("0x")), curve=SECP256k1)
    return key, "0x" + digest(key.verifying_key.to_string())[12:].hex()


def sign(key, hashed):
    """Signs 32 bytes as Ethereum demands: s is in the lower half of the curve's order, and v is 27 or 28."""
    order = SECP256k1.order
    k = rfc6979.generate_k(order, key.privkey.secret_multiplier, hashlib.sha256, hashed)
    r, s = key.sign_digest(hashed, k=k, sigencode=lambda r, s, _: (r, s))
    v = 27 + (SECP256k1.generator * k).y() % 2
    if s > order // 2:
        s, v = order - s, 55 - v
    return word(r) + word(s) + bytes([v])


def sign_hello(key, protocol_name, address, name, audience, chain_ids, nonce):
    """Returns the signature as hex with 0x."""
    chains = ",".join(map(str, sorted(chain_ids)))
    text = f"{protocol_name} Solver Session\nAddress: {address}\nName: {name}\nAudience: {audience}\n"
    text += f"Chains: {chains}\nChallenge: {nonce}"
    return "0x" + sign(key, digest(f"\x19Ethereum Signed Message:\n{len(text.encode())}", text)).hex()


def sign_quote(key, protocol_name, domain, quote):
    """Returns the signature as hex with 0x. The message has the members of the contract's struct in their order."""
    members = [word(getattr(quote, field.name)) for field in quote.DESCRIPTOR.fields]
    struct = digest(digest(f"{protocol_name}Quote({QUOTE_MEMBERS})"), *members)
    return "0x" + sign(key, digest(b"\x19\x01", domain, struct)).hex()


def rpc(url, method, *params):
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    request = urllib.request.Request(url, body, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as response:
        answer = json.load(response)
    if "error" in answer:
        raise RuntimeError(f"{method}: {answer['error']['message']}")
    return answer["result"]


def send_transaction(url, key, chain_id, to, function, *arguments):
    """Calls a function of a contract, whose arguments are one word each. Returns the hash of the transaction."""
    sender = "0x" + digest(key.verifying_key.to_string())[12:].hex()
    data = digest(function)[:4] + b"".join(map(word, arguments))
    call = {"from": sender, "to": to, "data": "0x" + data.hex()}
    gas = int(rpc(url, "eth_estimateGas", call), 16) * 3 // 2  # A call that would revert raises here.
    nonce = int(rpc(url, "eth_getTransactionCount", sender, "pending"), 16)
    tip = int(rpc(url, "eth_maxPriorityFeePerGas"), 16)
    most = 2 * int(rpc(url, "eth_gasPrice"), 16) + tip
    fields = [chain_id, nonce, tip, most, gas, bytes.fromhex(to[2:]), 0, data, []]
    signature = sign(key, digest(b"\x02", rlp(fields)))
    r, s = (int.from_bytes(part, "big") for part in (signature[:32], signature[32:64]))
    signed = b"\x02" + rlp([*fields, signature[64] - 27, r, s])
    return rpc(url, "eth_sendRawTransaction", "0x" + signed.hex())


def rlp(item):
    if isinstance(item, int):
        item = item.to_bytes((item.bit_length() + 7) // 8, "big")
    is_list = isinstance(item, list)
    body = b"".join(map(rlp, item)) if is_list else item
    if not is_list and len(body) == 1 and body[0] < 0x80:
        return body
    start = 0xC0 if is_list else 0x80
    if len(body) < 56:
        return bytes([start + len(body)]) + body
    size = len(body).to_bytes((len(body).bit_length() + 7) // 8, "big")
    return bytes([start + 55 + len(size)]) + size + body
