"""Asks an aggregator for a quote, follows its events for a while, and prints both, one line each."""

import argparse
import sys

import grpc
from aggregator.v1 import event_pb2, event_pb2_grpc, quote_pb2, quote_pb2_grpc
from google.rpc import error_details_pb2, status_pb2


def main():
    options = read_options()
    with grpc.insecure_channel(options.address) as channel:
        try:
            # The stream is opened first, so that it misses nothing of the order.
            stream = open_stream(channel, options)
            print_quote(channel, options)
            print_events(stream, options.events)
        except grpc.RpcError as error:
            print_error(error)
            sys.exit(1)


def read_options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--address", default="localhost:3000", help="host and port of the aggregator")
    parser.add_argument("--chain", type=int, default=31337, help="chain to trade on")
    parser.add_argument("--input", required=True, help="token to sell")
    parser.add_argument("--output", required=True, help="token to buy")
    parser.add_argument("--amount", default=str(10**18), help="how much to sell, in the token's smallest unit")
    parser.add_argument("--min-output", type=int, default=1, help="the least to take for it, from a source of your own")
    parser.add_argument("--user", required=True, help="the user's wallet")
    parser.add_argument("--events", type=int, default=0, help="how many order events to wait for")
    parser.add_argument("--timeout", type=float, default=60, help="longest wait for each call, in seconds")
    return parser.parse_args()


def open_stream(channel, options):
    """Follows a chain's events, and waits for the first message, which says that the stream is open."""
    request = event_pb2.StreamEventsRequest(chain_id=[options.chain])
    stream = event_pb2_grpc.EventServiceStub(channel).StreamEvents(request, timeout=options.timeout)
    print("connected", list(next(stream).connected.supported_chains), flush=True)
    return stream


def print_quote(channel, options):
    request = quote_pb2.GetQuoteRequest(
        chain_id=options.chain,
        input_token=options.input,
        output_token=options.output,
        order_type=quote_pb2.ORDER_TYPE_EXACT_INPUT,
        amount=options.amount,
        user_address=options.user,
        origin_chain_id=options.chain,
        destination_chain_id=options.chain,
        deposit_mode=quote_pb2.DEPOSIT_MODE_CONTRACT,
    )
    answer = quote_pb2_grpc.QuoteServiceStub(channel).GetQuote(request, timeout=options.timeout)
    # An aggregator may offer anything. The deposit address may be paid only for a request with DEPOSIT_MODE_ADDRESS.
    if int(answer.quote.output_amount) < options.min_output or int(answer.quote.input_amount) > int(options.amount):
        sys.exit(f"The best offer is beyond the limit: {answer.quote.output_amount} for {answer.quote.input_amount}.")
    print("quote", answer.quote.output_amount, answer.order_id, flush=True)
    for other in answer.alternative_quotes:
        print("alternative", other.quote.output_amount, other.order_id, flush=True)


def print_events(stream, count):
    seen = 0
    while seen < count:
        message = next(stream)
        kind = message.WhichOneof("event")
        if kind == "connected" or kind is None:  # None is a heartbeat.
            continue
        print(kind, getattr(message, kind).order_id, flush=True)
        seen += 1


def print_error(error):
    """Prints an error's reason, which is stable, its message, and each bad field."""
    reason, violations = read_details(error)
    print(reason or error.code().name, error.details(), flush=True)
    for violation in violations:
        print(f"  {violation.field}: {violation.description}", flush=True)


def read_details(error):
    """Reads google.rpc.ErrorInfo and google.rpc.BadRequest from the trailer that carries them."""
    reason, violations = None, []
    for key, value in error.trailing_metadata() or ():
        if key != "grpc-status-details-bin":
            continue
        for detail in status_pb2.Status.FromString(value).details:
            info, bad = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
            if detail.Unpack(info):
                reason = info.reason
            elif detail.Unpack(bad):
                violations = list(bad.field_violations)
    return reason, violations


if __name__ == "__main__":
    main()
