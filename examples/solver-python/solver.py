"""A solver that prices from a table. It connects to an aggregator, quotes, and fills deposits at the contract."""

import os
import secrets
import time
from concurrent.futures import ThreadPoolExecutor

from aggregator.v1 import quote_pb2
from session import hold_sessions
from signing import domain_separator, read_key, send_transaction, sign_hello, sign_quote

URL = os.environ.get("AGGREGATOR_URL", "http://localhost:3000")  # An origin, without a slash at its end.
RPC_URL = os.environ.get("RPC_URL", "http://localhost:8545")
NAME, PROTOCOL = "From a table", "Service"
# The demo's chain and contract, the contract's `MIN_ORDER()` and the names in its `eip712Domain()`.
CHAIN_ID, CONTRACT, MIN_ORDER = 31337, "0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512", 20
DOMAIN = domain_separator("Settlement", "1", CHAIN_ID, CONTRACT)
# Tokens may refuse these receivers.
NOT_USERS = ("0x" + "0" * 40, CONTRACT.lower())
# A slash counts smallest units: a bond token of 6 decimals covers next to no WETH, and aggregators drop such offers.
# By token: its smallest units in one token, the millionths of a dollar that one costs, and the most to pay out.
TABLE = {
    "0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0": (10**18, 2_500_000_000, 2 * 10**18),
    "0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9": (10**6, 1_000_000, 5_000 * 10**6),
}
SPREAD_BPS = 4
# The demo's time to fill: on a chain of your own, take 60 seconds, and at least 4 blocks. And the longest lock.
LEAST_FILL_S, MOST_LOCK_S = 5, 3600
NO_USER = "0x000000000000000000000000000000000000dEaD"
KEY, ADDRESS = read_key(os.environ["PRIVATE_KEY"])
fills = ThreadPoolExecutor(1)  # One transaction at a time, because they are numbered.


def hello(nonce, cursor):
    signature = sign_hello(KEY, PROTOCOL, ADDRESS, NAME, URL, [CHAIN_ID], nonce)
    who = {"address": ADDRESS, "name": NAME, "audience": URL, "chain_ids": [CHAIN_ID]}
    return {**who, "signature": signature, "events": {"after": cursor}}


def is_safe(request):
    """Whether a quote with the times and the user of a request may be signed. A hostile instance chooses others."""
    now, deposit, fill = time.time(), request.deposit_deadline, request.fill_deadline
    is_timely = deposit >= now + 2 and fill - deposit >= LEAST_FILL_S and fill <= now + MOST_LOCK_S
    is_firm = request.kind == quote_pb2.QUOTE_KIND_FIRM
    user = request.user_address.lower()
    is_receiver = user not in NOT_USERS and user not in map(str.lower, TABLE)
    return is_timely and is_receiver and (is_firm or user == NO_USER.lower())


def price(request):
    """Returns the input and output amount, or the code of a decline."""
    sold, bought = TABLE.get(request.input_token), TABLE.get(request.output_token)
    if not sold or not bought or request.destination_chain_id != CHAIN_ID:
        return "UNSUPPORTED_PAIR"
    # The worth of both sides: the user gets less than its input is worth, by the spread.
    give, get = sold[1] * bought[0] * (10_000 - SPREAD_BPS), bought[1] * sold[0] * 10_000
    amount, is_input = int(request.amount), request.order_type == quote_pb2.ORDER_TYPE_EXACT_INPUT
    amounts = (amount, amount * give // get) if is_input else (-(-amount * get // give), amount)
    if amounts[1] < MIN_ORDER:
        return "AMOUNT_TOO_SMALL"
    return "AMOUNT_TOO_LARGE" if amounts[1] > bought[2] else amounts


def answer(request):
    priced = price(request) if is_safe(request) else "OTHER"
    if isinstance(priced, str):
        return {"decline": {"id": request.id, "code": quote_pb2.DeclineCode.Value(f"DECLINE_CODE_{priced}")}}
    quote = quote_pb2.Quote(solver=ADDRESS, user=request.user_address, nonce=str(secrets.randbits(64)))
    for name in ("input_token", "output_token", "deposit_deadline", "fill_deadline"):
        setattr(quote, name, getattr(request, name))
    quote.input_amount, quote.output_amount = map(str, priced)
    quote.order_type, quote.output_chain_id = request.order_type - 1, CHAIN_ID  # The contract counts types from 0.
    return {"quote": {"id": request.id, "quote": quote, "signature": sign_quote(KEY, PROTOCOL, DOMAIN, quote)}}


def fill(order_id):
    try:
        sent = send_transaction(RPC_URL, KEY, CHAIN_ID, CONTRACT, "fill(bytes32)", order_id)
        print("filling", order_id, sent, flush=True)
    except Exception as error:
        print("not filled", order_id, error, flush=True)


def handle(kind, body):
    """Returns the answer to a message, if it needs one."""
    if kind == "quote_request":
        return answer(body)
    if kind == "ready":
        print("ready", body.session_id, flush=True)
    elif kind == "result":
        outcome = quote_pb2.SolverOutcome.Name(body.outcome).removeprefix("SOLVER_OUTCOME_")
        print("result", outcome, *filter(None, [body.reason]), flush=True)
    elif kind == "event":
        event = body.event.WhichOneof("event")
        order = getattr(body.event, event)
        print(event, order.order_id, flush=True)
        if event == "deposited" and order.fill_deadline > time.time():
            fills.submit(fill, order.order_id)
    return None


if __name__ == "__main__":
    hold_sessions(URL, hello, handle)
    raise SystemExit(1)
