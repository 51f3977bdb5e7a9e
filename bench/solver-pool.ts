/**
 * The solvers of a benchmark, in a process of their own: real HTTP servers, real signatures. A repeated
 * request is not signed again, so that the solvers take little of the machine of the measured service.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { createQuoteSigner } from '../src/devnet/quote-signer.js'
import { type Address, lowerCase } from '../src/domain/hex.js'
import type { SolverRequest } from '../test/support/solvers/solver.js'
import { benchAccount } from './bench-accounts.js'

/** The arguments of the process, as JSON. */
export interface SolverPoolOptions {
  readonly rpcUrl: string
  readonly chainId: number
  readonly settlement: Address
  readonly solvers: number
}

/** What one solver does from now on, as a line of JSON on standard input. */
export interface Habit {
  readonly solver: number
  /** The delay of a reply. The solver never replies without it. */
  readonly delayMs?: number
}

const options: SolverPoolOptions = JSON.parse(process.argv[2] ?? '')
const MAX_REPLIES = 16
const TIMER_SLACK_MS = 3
const delays = new Map<number, number | undefined>()
let asked = 0

async function startSolver(index: number): Promise<string> {
  const account = benchAccount(index)
  const solver = lowerCase(account.address)
  const sign = await createQuoteSigner({ ...options, account, protocolName: 'Service' })
  const replies = new Map<string, Buffer>()

  function replyTo(text: string): Buffer {
    const known = replies.get(text)
    if (known !== undefined) return known
    const ask: SolverRequest = JSON.parse(text)
    const quote = {
      solver,
      user: lowerCase(ask.userAddress),
      inputToken: lowerCase(ask.inputToken),
      inputAmount: BigInt(ask.amount),
      outputToken: lowerCase(ask.outputToken),
      outputAmount: BigInt(ask.amount) + BigInt((index * 37) % 100),
      orderType: ask.orderType,
      outputChainId: ask.destinationChainId,
      depositDeadline: ask.depositDeadline,
      fillDeadline: ask.fillDeadline,
      nonce: BigInt(++asked),
    }
    const { signature } = sign(quote)
    const reply = Buffer.from(JSON.stringify({ quote: { ...quote, orderType: 0 }, signature }, decimal))
    if (replies.size >= MAX_REPLIES) replies.clear()
    replies.set(text, reply)
    return reply
  }

  function answer(request: IncomingMessage, response: ServerResponse): void {
    let text = ''
    request.on('data', (chunk) => {
      text += chunk
    })
    request.on('end', () => {
      const send = () => {
        const reply = replyTo(text)
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': reply.length })
        response.end(reply)
      }
      if (!delays.has(index)) return send()
      const delayMs = delays.get(index)
      if (delayMs !== undefined) after(delayMs, send)
    })
  }

  const server = createServer(answer)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/**
 * Timers fire a millisecond or two late, which would count as the service's time: the process waits actively
 * at the end.
 */
function after(delayMs: number, action: () => void): void {
  const due = performance.now() + delayMs
  const look = () => (performance.now() >= due ? action() : setImmediate(look))
  setTimeout(look, delayMs - TIMER_SLACK_MS)
}

function decimal(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value
}

const habits = createInterface({ input: process.stdin })
habits.on('line', (line) => {
  const { solver, delayMs }: Habit = JSON.parse(line)
  if (delayMs === 0) delays.delete(solver)
  else delays.set(solver, delayMs)
})
// The parent process has ended.
habits.on('close', () => process.exit())

const endpoints = await Promise.all(Array.from({ length: options.solvers }, (_, index) => startSolver(index)))
process.stdout.write(`endpoints ${JSON.stringify(endpoints)}\n`)
