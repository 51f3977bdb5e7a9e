import { once } from 'node:events'
import { type ClientHttp2Stream, connect as connectHttp2 } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import { encodeEnvelope } from '@connectrpc/connect/protocol'
import {
  DepositMode,
  OrderType,
  StreamQuotesRequestSchema,
  StreamQuotesResponseSchema,
} from '../gen/aggregator/v1/quote_pb.js'
import type { SolverFixture } from './solver-fixture.js'

export const STREAMS = 1000
const STREAMS_AT_ONCE = 20
const STREAMS_PER_SESSION = 100
/** Long enough that no round begins while the others are measured. */
const REFRESH_SECONDS = 60
const ENVELOPE_BYTES = 5

/** Opens `STREAMS` streams that refresh, each with its first round. @returns a function that ends them */
export type OpenStreams = (url: string, fixture: SolverFixture) => Promise<() => Promise<void>>

/** Server-sent events, each stream on a connection of its own. */
const openSse: OpenStreams = async (url, { chain, quoteRequest }) => {
  const { hostname, port, host } = new URL(url)
  const body = JSON.stringify({ ...quoteRequest, refreshSeconds: REFRESH_SECONDS })
  const head =
    `POST /v1/${chain.chainId}/quote/stream HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\n` +
    `content-length: ${Buffer.byteLength(body)}\r\n\r\n`
  const sockets = await inTurns(async () => {
    const socket = connect({ host: hostname, port: Number(port) })
    socket.write(head + body)
    await untilText(socket, 'event: done')
    return socket
  })
  return async () => {
    const closed = sockets.map((socket) => once(socket, 'close'))
    for (const socket of sockets) socket.resetAndDestroy()
    await Promise.all(closed)
  }
}

/** gRPC, many streams on a connection. */
const openGrpc: OpenStreams = async (url, { chain, quoteRequest }) => {
  const chainId = BigInt(chain.chainId)
  const message = create(StreamQuotesRequestSchema, {
    ...quoteRequest,
    ...{ chainId, originChainId: chainId, destinationChainId: chainId, refreshSeconds: REFRESH_SECONDS },
    orderType: OrderType.EXACT_INPUT,
    depositMode: DepositMode.CONTRACT,
  })
  const request = encodeEnvelope(0, toBinary(StreamQuotesRequestSchema, message))
  const sessions = Array.from({ length: STREAMS / STREAMS_PER_SESSION }, () => connectHttp2(url))
  let opened = 0
  await inTurns(async () => {
    const stream = sessions[opened++ % sessions.length]?.request({
      ':method': 'POST',
      ':path': '/aggregator.v1.QuoteService/StreamQuotes',
      'content-type': 'application/grpc',
      te: 'trailers',
    })
    if (stream === undefined) throw new Error('there is no session')
    stream.on('error', () => {}).end(request)
    await untilRoundEnd(stream)
  })
  return async () => {
    const closed = sessions.map((session) => once(session, 'close'))
    for (const session of sessions) session.destroy()
    await Promise.all(closed)
  }
}

/** Runs an action as often as there are streams, a few at a time. */
async function inTurns<T>(action: () => Promise<T>): Promise<T[]> {
  const results: T[] = []
  while (results.length < STREAMS)
    results.push(...(await Promise.all(Array.from({ length: STREAMS_AT_ONCE }, action))))
  return results
}

/** Reads a response until its text has something, then drops what comes. */
function untilText(socket: Socket, wanted: string): Promise<void> {
  let text = ''
  return new Promise((resolve, reject) => {
    const read = (chunk: Buffer) => {
      text += chunk
      if (!text.includes(wanted)) return
      text = ''
      socket.off('data', read).on('data', () => {})
      resolve()
    }
    socket.on('data', read).on('error', reject)
  })
}

/** Reads the messages of a stream until a round has ended, then drops what comes. */
function untilRoundEnd(stream: ClientHttp2Stream): Promise<void> {
  let bytes: Buffer = Buffer.alloc(0)
  return new Promise((resolve) => {
    const read = (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk])
      while (bytes.length >= ENVELOPE_BYTES) {
        const end = ENVELOPE_BYTES + bytes.readUInt32BE(1)
        if (bytes.length < end) return
        const { message } = fromBinary(StreamQuotesResponseSchema, bytes.subarray(ENVELOPE_BYTES, end))
        bytes = bytes.subarray(end)
        if (message.case !== 'done') continue
        stream.off('data', read).on('data', () => {})
        return resolve()
      }
    }
    stream.on('data', read)
  })
}

/** The ways to open streams, by their names. */
export const OPENERS: Readonly<Record<string, OpenStreams>> = { 'SSE over HTTP/1.1': openSse, gRPC: openGrpc }
