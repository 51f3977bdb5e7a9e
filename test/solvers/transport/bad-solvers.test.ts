import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { checkOffer } from '../../../packages/protocol/src/quotes/offer.js'
import { createEndpointGuard } from '../../../src/solvers/transport/endpoint-guard.js'
import { createSolverHttpClient } from '../../../src/solvers/transport/solver-http-client.js'
import { shared } from '../../support/shared.js'
import type { MalformedSolver } from '../../support/solvers/malformed-solvers.js'
import { startRawSolver, startTrap } from '../../support/solvers/raw-solver.js'
import { exactInput, SOLVER } from '../../support/solvers/sample-quotes.js'
import { askAt, replyTo } from './ask.js'
import { badReplies } from './bad-replies.js'
import { badSolvers } from './bad-solvers.js'
import { oversizedReplies } from './oversized-replies.js'

/** How long a caller waits for a reply that never ends. */
const PATIENCE_MS = 100
/** What the buffers of two sockets may hold. */
const BUFFERED_BYTES = 16_000_000

const trap = await shared(startTrap())
const client = createSolverHttpClient(createEndpointGuard({ production: false, allowlist: [] }), 8)
const all = [...badSolvers, ...badReplies]

/** A malformed solver, and what comes of a request to it: its outcome and its reason. */
async function start(malformedSolver: MalformedSolver) {
  const raw = await startRawSolver(malformedSolver, replyTo, trap.port)
  onTestFinished(raw.close)
  const signal = new AbortController()
  return {
    ...raw,
    giveUp: () => signal.abort(),
    async ask(): Promise<string> {
      const reply = await askAt(client, raw.endpointUrl, signal.signal)
      if (reply.kind !== 'replied') return 'reason' in reply ? `${reply.kind} ${reply.reason}` : reply.kind
      const checked = checkOffer(exactInput, SOLVER, reply.body)
      return typeof checked === 'string' ? `invalid ${checked}` : 'quoted'
    },
  }
}

test.each([...all, ...oversizedReplies].filter(({ outcome }) => outcome !== 'late'))(
  'a solver with $name has the outcome $outcome, also a second time',
  async (malformedSolver) => {
    const { ask } = await start(malformedSolver)
    for (let time = 0; time < 2; time++)
      expect(await ask()).toMatch(new RegExp(`^${malformedSolver.outcome}\\b`))
  },
)

test.each(all.filter(({ outcome }) => outcome === 'late'))(
  'a solver that $name gets no more time than its caller has, and loses its connection',
  async (malformedSolver) => {
    const { ask, giveUp, abandoned } = await start(malformedSolver)
    const asked = ask()
    expect(await Promise.race([asked, delay(PATIENCE_MS)])).toBeUndefined()
    giveUp()
    expect(await asked).toBe('cancelled')
    await abandoned()
  },
)

test.each(oversizedReplies)(
  'a solver that sends $name sends little more than it may',
  async (malformedSolver) => {
    const { ask, giveUp, abandoned, sent } = await start(malformedSolver)
    await ask()
    // As a round does with what is left of declined replies.
    giveUp()
    await abandoned()
    expect(sent()).toBeLessThan(BUFFERED_BYTES)
  },
)

describe('a connection', () => {
  test('has no limit for all its replies, only for each one', async () => {
    const largest = all.filter(({ name }) => name === 'a body of 64 KiB to the byte')
    expect(largest).toHaveLength(1)
    for (const malformedSolver of largest) {
      const { ask } = await start(malformedSolver)
      for (let round = 0; round < 8; round++) expect(await ask()).toBe('quoted')
    }
  })

  test('follows no redirect', () => expect(trap.visits()).toBe(0))
})
