import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ClientId } from '../../src/clients/client-id.js'
import { FairQueue } from '../../src/concurrency/fair-queue.js'

interface Waiter {
  readonly client: ClientId
  readonly number: number
}

const NETWORKS = ['a', 'b', 'c']

/** A client of a /48 of three. */
const client = (network: string, key: string): ClientId => ({
  key: `${network}${key}`,
  address: '',
  network,
  networks: [{ key: network, prefixLength: 48 }],
  region: '',
  isIpv6: true,
  isPrivate: false,
})
const clients = fc.array(
  fc
    .tuple(fc.constantFrom(...NETWORKS), fc.constantFrom('1', '2', '3'))
    .map(([network, key]) => client(network, key)),
  { maxLength: 60 },
)

function takeAll(queue: FairQueue<Waiter>, mayStart: (client: ClientId) => boolean = () => true): Waiter[] {
  const taken: Waiter[] = []
  for (let next = queue.take(mayStart); next !== undefined; next = queue.take(mayStart)) taken.push(next)
  return taken
}

const networkOf = ({ client }: Waiter) => client.network
const keyOf = ({ client }: Waiter) => client.key

/** Between two turns of one, every other one with a waiter has had a turn. */
function expectTurns(taken: readonly Waiter[], of: (waiter: Waiter) => string): void {
  for (const [index, waiter] of taken.entries()) {
    const next = taken.findIndex((other, at) => at > index && of(other) === of(waiter))
    if (next === -1) continue
    const between = new Set(taken.slice(index + 1, next).map(of))
    const left = new Set(taken.slice(index + 1).map(of))
    left.delete(of(waiter))
    expect([...between]).toEqual(expect.arrayContaining([...left]))
  }
}

test('networks take turns, and so do clients in a network, and each client keeps its order', () => {
  fc.assert(
    fc.property(clients, (all) => {
      const queue = new FairQueue<Waiter>()
      const waiters = all.map((client, number) => ({ client, number }))
      for (const waiter of waiters) queue.add(waiter)
      expect(queue.size).toBe(all.length)
      const taken = takeAll(queue)
      expect(queue.size).toBe(0)
      expect(taken.toSorted((a, b) => a.number - b.number)).toEqual(waiters)
      for (const key of new Set(all.map(({ key }) => key))) {
        const own = taken.filter(({ client }) => client.key === key).map(({ number }) => number)
        expect(own).toEqual(own.toSorted((a, b) => a - b))
      }
      expectTurns(taken, networkOf)
      for (const network of NETWORKS)
        expectTurns(
          taken.filter((waiter) => networkOf(waiter) === network),
          keyOf,
        )
    }),
    { seed: 20_261_121, numRuns: 200 },
  )
})

test('a waiter that may not start is skipped, and keeps its place', () => {
  const queue = new FairQueue<Waiter>()
  const [one, two] = [client('a', '1'), client('b', '1')]
  for (const [number, who] of [one, one, two].entries()) queue.add({ client: who, number })
  expect(takeAll(queue, ({ key }) => key !== one.key).map(({ number }) => number)).toEqual([2])
  expect(takeAll(queue).map(({ number }) => number)).toEqual([0, 1])
})

test('a deleted waiter is not taken', () => {
  const queue = new FairQueue<Waiter>()
  const waiters = [0, 1, 2].map((number) => ({ client: client('a', String(number)), number }))
  for (const waiter of waiters) queue.add(waiter)
  for (const waiter of waiters.slice(0, 2)) queue.delete(waiter)
  queue.delete(waiters[0] as Waiter)
  expect(takeAll(queue).map(({ number }) => number)).toEqual([2])
  expect(queue.size).toBe(0)
})
