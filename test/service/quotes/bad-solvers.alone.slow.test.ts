import { beforeEach, describe, expect, it } from 'vitest'
import { badReplies } from '../../support/solvers/bad-replies.js'
import { badSolvers } from '../../support/solvers/bad-solvers.js'
import { useHonestSolver } from '../../support/solvers/beside-honest.js'
import { oversizedReplies } from '../../support/solvers/oversized-replies.js'

const QUOTE_TIMEOUT_MS = 800
/** What a machine of two cores may add. */
const SLACK_MS = 400
/** What the buffers of two sockets may hold between a solver and the service. */
const BUFFERED_BYTES = 16_000_000
const MOST_MEMORY_BYTES = 100_000_000

const on = useHonestSolver({ quoteTimeoutMs: QUOTE_TIMEOUT_MS })
const all = [...badSolvers, ...badReplies]

describe('a solver that never finishes its reply costs the others no more than the timeout', () => {
  // The time that a solver has cost also counts at its next endpoint.
  beforeEach(on.restart)

  it.each(all.filter(({ outcome }) => outcome === 'late'))('case: it $name', async (malformedSolver) => {
    const bad = await on.start(malformedSolver)
    const elapsedMs = await on.quoteBeside(malformedSolver)
    expect(elapsedMs).toBeGreaterThan(QUOTE_TIMEOUT_MS - 50)
    expect(elapsedMs).toBeLessThan(QUOTE_TIMEOUT_MS + SLACK_MS)
    await bad.abandoned()
    await bad.close()
  })
})

describe('a solver that does not stop sending is cut off, at the cost of what the sockets hold', () => {
  it.each(oversizedReplies)('case: $name, outcome: $outcome', async (malformedSolver) => {
    const bad = await on.start(malformedSolver)
    const before = process.memoryUsage().rss
    expect(await on.quoteBeside(malformedSolver)).toBeLessThan(SLACK_MS)
    await bad.abandoned()
    expect(process.memoryUsage().rss - before).toBeLessThan(MOST_MEMORY_BYTES)
    expect(bad.sent()).toBeLessThan(BUFFERED_BYTES)
    await bad.close()
  })
})
