/**
 * The solvers of a benchmark that connect by sessions, in a process of their own: real signatures, as light as a solver can
 * be. Each line of JSON on standard input is a target; the process prints `connected` when all of its sessions are open.
 */
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { createClient } from '@connectrpc/connect'
import { createGrpcTransport } from '@connectrpc/connect-node'
import { WebSocket } from 'ws'
import type { OpenSessionRequestSchema, SessionQuoteRequest } from '../gen/aggregator/v1/session_pb.js'
import { SolverService } from '../gen/aggregator/v1/solver_pb.js'
import { sessionMessage } from '../packages/protocol/src/solvers/registration-messages.js'
import { lowerCase } from '../packages/protocol/src/values/hex.js'
import type { SolverRequest } from '../test/support/solvers/solver.js'
import { benchAccount } from './bench-accounts.js'
import { createReplies, type Market } from './signed-offers.js'

/** Sessions to open: those of the solvers with these numbers. */
export interface SessionTarget {
  readonly url: string
  readonly transport: 'websocket' | 'grpc'
  readonly from: number
  readonly to: number
}

type GrpcMessage = MessageInitShape<typeof OpenSessionRequestSchema>

const market: Market = JSON.parse(process.argv[2] ?? '')

async function signHello(url: string, index: number, nonce: string) {
  const account = benchAccount(index)
  const { origin: audience } = new URL(url)
  const text = { address: lowerCase(account.address), name: `solver ${index}`, audience }
  const chainIds = [market.chainId]
  const message = sessionMessage('Service', { ...text, chainIds, nonce: nonce as `0x${string}` })
  return { ...text, chainIds, signature: await account.signMessage({ message }) }
}

async function connectWebSocket(url: string, index: number): Promise<void> {
  const replyTo = await createReplies(market, index, (offer) => JSON.stringify(offer).slice(1))
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/solvers/session`, {
    perMessageDeflate: false,
  })
  socket.on('close', (code, reason) => {
    throw new Error(`the session of solver ${index} was closed: ${code} ${reason}`)
  })
  const isReady = new Promise<void>((resolve) => {
    socket.on('message', async (data) => {
      const text = data.toString()
      if (text.startsWith('{"type":"result"')) return
      const message = JSON.parse(text)
      if (message.type === 'quoteRequest') {
        const reply = replyTo(text.slice(text.indexOf('"kind"')), () => message)
        socket.send(`{"type":"quote","id":"${message.id}",${reply}`)
      } else if (message.type === 'challenge') {
        socket.send(JSON.stringify({ type: 'hello', ...(await signHello(url, index, message.nonce)) }))
      } else if (message.type === 'ping') socket.send(JSON.stringify({ type: 'pong', id: message.id }))
      else if (message.type === 'ready') resolve()
      else if (message.type === 'error') throw new Error(text)
    })
  })
  await once(socket, 'open')
  await isReady
}

async function connectGrpc(url: string, index: number): Promise<void> {
  const replyTo = await createReplies(market, index, ({ quote, signature }) => ({
    quote: { ...quote, outputChainId: BigInt(quote.outputChainId) },
    signature,
  }))
  const client = createClient(SolverService, createGrpcTransport({ baseUrl: url }))
  const outgoing = createOutgoing()
  const incoming = client.openSession(outgoing.messages())
  await new Promise<void>((resolve, reject) => {
    async function receiveAll(): Promise<void> {
      for await (const { message } of incoming) {
        if (message.case === 'quoteRequest') {
          const { id, amount, depositDeadline } = message.value
          const reply = replyTo(`${amount} ${depositDeadline}`, () => toSolverRequest(message.value))
          outgoing.send({ message: { case: 'quote', value: { id, ...reply } } })
        } else if (message.case === 'challenge') {
          const { chainIds, ...hello } = await signHello(url, index, message.value.nonce)
          outgoing.send({ message: { case: 'hello', value: { ...hello, chainIds: chainIds.map(BigInt) } } })
        } else if (message.case === 'ping')
          outgoing.send({ message: { case: 'pong', value: { id: message.value.id } } })
        else if (message.case === 'ready') resolve()
      }
      throw new Error(`the session of solver ${index} has ended`)
    }
    receiveAll().catch(reject)
  })
}

/** The messages of one call, sent as they come. */
function createOutgoing() {
  let waiting: GrpcMessage[] = []
  let wake = () => {}
  return {
    send(message: GrpcMessage): void {
      waiting.push(message)
      wake()
    },
    async *messages(): AsyncGenerator<GrpcMessage, void, void> {
      for (;;) {
        const batch = waiting
        waiting = []
        yield* batch
        if (waiting.length === 0) {
          await new Promise<void>((resolve) => {
            wake = resolve
          })
        }
      }
    },
  }
}

function toSolverRequest(request: SessionQuoteRequest): SolverRequest {
  const { inputToken, outputToken, amount, userAddress, depositDeadline, fillDeadline } = request
  return {
    ...({ inputToken, outputToken, userAddress } as Pick<
      SolverRequest,
      'inputToken' | 'outputToken' | 'userAddress'
    >),
    ...{ amount, depositDeadline, fillDeadline, orderType: 'EXACT_INPUT', depositMode: 'CONTRACT' },
    chainId: Number(request.chainId),
    destinationChainId: Number(request.destinationChainId),
  }
}

const targets = createInterface({ input: process.stdin })
// The parent process has ended.
targets.on('close', () => process.exit())
process.stdout.write('started\n')
for await (const line of targets) {
  const { url, transport, from, to }: SessionTarget = JSON.parse(line)
  const connect = transport === 'grpc' ? connectGrpc : connectWebSocket
  // One after the other: an instance lets a client have few connections without a hello.
  for (let index = from; index < to; index++) await connect(url, index)
  await nextTurn()
  process.stdout.write(`connected ${transport} ${url} ${to}\n`)
}
