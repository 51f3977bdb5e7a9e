import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { createLeaderElection } from '../../src/cluster/leader-election.js'

const SECOND_MS = 1000

beforeEach(() => {
  vi.useFakeTimers()
  return () => vi.useRealTimers()
})

/** An election over a connection that wins these locks. It closes with the test. */
function startElection(...won: string[]) {
  const isWon = new Set(won)
  /** The names that each attempt tries to lock. */
  const attempts: string[][] = []
  const election = createLeaderElection({
    async query(_text, [wanted]) {
      const names = wanted as string[]
      attempts.push(names)
      return names.map((name) => ({ name, is_won: isWon.has(name) }))
    },
  })
  election.start()
  onTestFinished(election.close)
  const notes: string[] = []
  const acquire = (name: string) =>
    election.acquire(name, {
      onAcquired: () => notes.push(`acquired ${name}`),
      onLost: () => notes.push(`lost ${name}`),
    })
  return { election, acquire, attempts, notes, isWon }
}

test('an election tries every second for what it lacks, and goes on when it lacks nothing', async () => {
  const { acquire, attempts, notes, isWon } = startElection('chain 1')
  await acquire('chain 1')
  await acquire('chain 2')
  await vi.advanceTimersByTimeAsync(SECOND_MS)
  isWon.add('chain 2')
  await vi.advanceTimersByTimeAsync(2 * SECOND_MS)
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
  const { election, attempts } = startElection()
  election.close()
  await vi.advanceTimersByTimeAsync(10 * SECOND_MS)
  expect(attempts).toEqual([])
})
