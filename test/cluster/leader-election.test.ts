import { expect, onTestFinished, test } from 'vitest'
import { createLeaderElection } from '../../src/cluster/leader-election.js'
import { createManualClock } from '../support/manual-clock.js'
import { only } from '../support/only.js'

const SECOND_MS = 1000

/** An election over a connection that wins these locks. It closes with the test. */
function startElection(...won: string[]) {
  const isWon = new Set(won)
  /** The names that each attempt tries to lock. */
  const attempts: string[][] = []
  const clock = createManualClock()
  const query = async (_text: string, [wanted]: unknown[]) => {
    const names = wanted as string[]
    attempts.push(names)
    return names.map((name) => ({ name, is_won: isWon.has(name) }))
  }
  const election = createLeaderElection(only({ query }), clock)
  election.start()
  onTestFinished(election.close)
  const notes: string[] = []
  const acquire = (name: string) =>
    election.acquire(name, {
      onAcquired: () => notes.push(`acquired ${name}`),
      onLost: () => notes.push(`lost ${name}`),
    })
  return { clock, election, acquire, attempts, notes, isWon }
}

test('an election tries every second for what it lacks, and goes on when it lacks nothing', async () => {
  const { clock, acquire, attempts, notes, isWon } = startElection('chain 1')
  await acquire('chain 1')
  await acquire('chain 2')
  await clock.advance(SECOND_MS)
  isWon.add('chain 2')
  await clock.advance(2 * SECOND_MS)
  expect(attempts).toEqual([['chain 1'], ['chain 2'], ['chain 2'], ['chain 2'], []])
  expect(notes).toEqual(['acquired chain 1', 'acquired chain 2'])
})

test('an election that steps down loses each leadership once, and tries for them again', async () => {
  const { election, acquire, attempts, notes } = startElection('chain 1', 'chain 2')
  for (const name of ['chain 1', 'chain 2', 'chain 3']) await acquire(name)
  election.stepDown()
  election.stepDown()
  expect(notes.splice(0)).toEqual(['acquired chain 1', 'acquired chain 2', 'lost chain 1', 'lost chain 2'])
  await election.tryNow()
  expect(attempts.at(-1)).toEqual(['chain 1', 'chain 2', 'chain 3'])
  expect(notes).toEqual(['acquired chain 1', 'acquired chain 2'])
})

test('a closed election makes no further attempts', async () => {
  const { clock, election, attempts } = startElection()
  election.close()
  await clock.advance(10 * SECOND_MS)
  expect(attempts).toEqual([])
})
