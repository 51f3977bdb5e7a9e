"""Holds a session with an aggregator by gRPC: dials, answers pings, and connects again after a loss."""

import queue
import random
import threading
import time
from types import SimpleNamespace

import grpc
from aggregator.v1.session_pb2 import OpenSessionRequest
from aggregator.v1.solver_pb2_grpc import SolverServiceStub
from google.rpc import error_details_pb2, status_pb2

FIRST_LIMIT_S, LAST_LIMIT_S, OPENING_S = 0.1, 30, 10
FINAL = ("SESSION_REPLACED", "SOLVER_BLOCKED")
FINAL_FOR_HELLO = ("INVALID_ARGUMENT", "SIGNATURE_INVALID", "AUDIENCE_REJECTED")


def hold_sessions(url, make_hello, handle):
    """Opens one session after the other. Returns after an error with which the solver must not connect again.

    `make_hello(nonce, cursor)` returns a hello. `handle(kind, body)` gets each message, and may return an answer.
    """
    state = SimpleNamespace(cursor="earliest", limit_s=FIRST_LIMIT_S)
    while True:
        time.sleep(random.uniform(0, state.limit_s))
        state.limit_s, state.is_open = min(2 * state.limit_s, LAST_LIMIT_S), False
        try:
            with dial(url) as channel:
                run_session(channel, state, make_hello, handle)
        except grpc.RpcError as error:
            reason = reason_of(error)
            print("ended", reason, error.details(), flush=True)
            if reason in FINAL or (reason in FINAL_FOR_HELLO and not state.is_open):
                return
            if reason == "CURSOR_UNKNOWN":
                state.cursor = "earliest"


def dial(url):
    """Opens a connection of its own, since gRPC would delay a second attempt on a shared one."""
    scheme, target = url.split("://")
    options = [("grpc.use_local_subchannel_pool", 1)]
    if scheme == "https":
        return grpc.secure_channel(target, grpc.ssl_channel_credentials(), options)
    return grpc.insecure_channel(target, options)


def run_session(channel, state, make_hello, handle):
    """Answers messages until the session ends. It ends one in which no ping comes for 2.5 intervals."""
    outbox = queue.SimpleQueue()
    call = SolverServiceStub(channel).OpenSession(iter(outbox.get, None))
    silence_s, watch = OPENING_S, start_timer(OPENING_S, call.cancel)
    try:
        for message in call:
            kind = message.WhichOneof("message")
            body = kind and getattr(message, kind)
            answer = handle(kind, body)
            if kind == "challenge":
                answer = {"hello": make_hello(body.nonce, state.cursor)}
            elif kind == "ready":
                state.is_open, state.cursor, silence_s = True, body.cursor, 2.5 * body.heartbeat_ms / 1000
            elif kind == "ping":
                # The session has lasted for a heartbeat.
                answer, state.limit_s = {"pong": {"id": body.id}}, FIRST_LIMIT_S
            elif kind == "event":
                state.cursor = body.cursor
            elif kind == "go_away":
                state.limit_s = body.reconnect_within_ms / 1000
            if kind in ("ready", "ping"):
                watch.cancel()
                watch = start_timer(silence_s, call.cancel)
            if answer:
                outbox.put(OpenSessionRequest(**answer))
    finally:
        watch.cancel()
        outbox.put(None)


def start_timer(seconds, action):
    timer = threading.Timer(seconds, action)
    timer.daemon = True
    timer.start()
    return timer


def reason_of(error):
    """Reads the reason of google.rpc.ErrorInfo from the trailer that carries it."""
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            for detail in status_pb2.Status.FromString(value).details:
                info = error_details_pb2.ErrorInfo()
                if detail.Unpack(info):
                    return info.reason
    return error.code().name
