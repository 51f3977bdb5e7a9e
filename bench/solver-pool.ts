/**
 * The solvers of a benchmark, in a process of their own: real HTTP servers, real signatures.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { createReplies, type Market } from './signed-offers.js'

/** The arguments of the process, as JSON. */
export interface SolverPoolOptions extends Market {
  readonly solvers: number
}

/** What one solver does from now on, as a line of JSON on standard input. */
export interface Habit {
  readonly solver: number
  /** The delay of a reply. The solver never replies without it. */
  readonly delayMs?: number
}

const options: SolverPoolOptions = JSON.parse(process.argv[2] ?? '')
const TIMER_SLACK_MS = 3
const delays = new Map<number, number | undefined>()

async function startSolver(index: number): Promise<string> {
  const replyTo = await createReplies(options, index, (offer) => Buffer.from(JSON.stringify(offer)))

  function answer(request: IncomingMessage, response: ServerResponse): void {
    let text = ''
    request.on('data', (chunk) => {
      text += chunk
    })
    request.on('end', () => {
      const send = () => {
        const reply = replyTo(text, () => JSON.parse(text))
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
