import { describe, expect, it } from 'vitest'
import { badReplies } from '../../support/solvers/bad-replies.js'
import { badSolvers } from '../../support/solvers/bad-solvers.js'
import { useHonestSolver } from '../../support/solvers/beside-honest.js'
import { oversizedReplies } from '../../support/solvers/oversized-replies.js'

// No reply is late, however busy the machine is.
const on = useHonestSolver({ quoteTimeoutMs: 60_000 })
const ending = [...badSolvers, ...badReplies].filter(({ outcome }) => outcome !== 'late')

describe('a solver with a malformed reply gets its outcome, and the caller the honest offer, also a second time', () => {
  it.each([...ending, ...oversizedReplies])('case: $name, outcome: $outcome', async (malformedSolver) => {
    const bad = await on.start(malformedSolver)
    await on.quoteBeside(malformedSolver)
    await on.quoteBeside(malformedSolver)
    await bad.close()
  })
})

it('one connection has no limit for all its replies, only for each one', async () => {
  const largest = ending.filter(({ name }) => name === 'a body of 64 KiB to the byte')
  expect(largest).toHaveLength(1)
  for (const malformedSolver of largest) {
    const bad = await on.start(malformedSolver)
    for (let round = 0; round < 8; round++) await on.quoteBeside(malformedSolver)
    await bad.close()
  }
})

it('the service never follows a redirect of a solver', () => expect(on.trapped()).toBe(0))
