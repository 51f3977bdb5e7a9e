import type { OrderEvent } from '@quote-aggregator/client'
import { describe, expect, it, onTestFinished, test } from 'vitest'
import { deferred } from '../../../../test/support/deferred.js'
import { createManualClock } from '../../../../test/support/manual-clock.js'
import { systemClock } from '../../../protocol/src/clock.js'
import { createPost, deliver, parseSecrets } from '../../src/forward/webhook.js'
import { SECRET, startReceiver } from './receiver.js'

const OTHER_SECRET = `whsec_${Buffer.alloc(24, 9).toString('base64')}`
const EVENT: OrderEvent = {
  type: 'Settled',
  chainId: 31337,
  orderId: `0x${'ab'.repeat(32)}`,
  user: undefined,
  solver: undefined,
  blockNumber: 29,
  logIndex: 2,
  transactionHash: undefined,
  blockTime: 1_795_176_770,
  cursor: 'hnJYqJlI.1.x6M9zRNB',
}
const DAY_MS = 86_400_000

async function useReceiver(...args: Parameters<typeof startReceiver>) {
  const receiver = await startReceiver(...args)
  onTestFinished(receiver.close)
  return receiver
}

describe('a message', () => {
  it('is accepted by the library of Standard Webhooks, and has the event as the stream has it', async () => {
    const receiver = await useReceiver(SECRET)
    const post = createPost(receiver.url, parseSecrets(SECRET), systemClock)
    await deliver(EVENT, post, systemClock, () => expect.unreachable())
    expect(receiver.refused).toEqual([])
    expect(receiver.received).toMatchObject([
      {
        id: 'hnJYqJlI~1~x6M9zRNB',
        payload: {
          type: 'Settled',
          timestamp: '2026-11-20T12:12:50.000Z',
          data: { type: 'Settled', chainId: 31337, cursor: EVENT.cursor },
        },
      },
    ])
  })

  it('is accepted with each of two secrets, and with no other', async () => {
    const secrets = parseSecrets(`${SECRET}\n${OTHER_SECRET}\n`)
    const receivers = [await useReceiver(SECRET), await useReceiver(OTHER_SECRET)]
    for (const { url } of receivers)
      expect(await createPost(url, secrets, systemClock)('1', '{}')).toBeUndefined()
    const stranger = await useReceiver(`whsec_${Buffer.alloc(32, 1).toString('base64')}`)
    expect(await createPost(stranger.url, secrets, systemClock)('1', '{}')).toBe(401)
    expect(stranger.refused).toHaveLength(1)
  })

  it.each([
    ['a point that is no separator', 'a.b\n.c'],
    ['129 characters', 'a'.repeat(129)],
    ['no character', ''],
  ])('is not signed when the cursor has %s', async (_what, cursor) => {
    const sent = deliver(
      { ...EVENT, cursor },
      () => expect.unreachable(),
      systemClock,
      () => expect.unreachable(),
    )
    await expect(sent).rejects.toMatchObject({ exitCode: 3 })
  })

  it('has a time that a date can have, whatever the instance says', async () => {
    const bodies: string[] = []
    const post = async (_id: string, body: string) => void bodies.push(body)
    await deliver({ ...EVENT, blockTime: Number.MAX_SAFE_INTEGER }, post, systemClock, () =>
      expect.unreachable(),
    )
    await deliver({ ...EVENT, blockTime: undefined }, post, systemClock, () => expect.unreachable())
    expect(bodies.map((body) => JSON.parse(body).timestamp)).toEqual([
      '+275760-09-13T00:00:00.000Z',
      undefined,
    ])
  })
})

describe('an attempt', () => {
  it.each([
    ['200', 200, undefined],
    ['302', 302, 302],
    ['410', 410, 410],
    ['503', 503, 503],
  ])(
    'that is answered %s is judged by its status, and no redirect is followed',
    async (_name, status, judged) => {
      const elsewhere = await useReceiver(SECRET)
      const receiver = await useReceiver(SECRET, (_received, response) => {
        response.writeHead(status, { location: elsewhere.url }).end()
      })
      const post = createPost(receiver.url, parseSecrets(SECRET), systemClock)
      expect(await post('1', '{}')).toBe(judged)
      expect(receiver.received).toHaveLength(1)
      expect(elsewhere.received).toEqual([])
    },
  )

  it('fails after 10 s without an answer, and when the receiver is gone', async () => {
    const came = deferred()
    const receiver = await useReceiver(SECRET, () => came.open())
    const clock = createManualClock(Date.now())
    const answer = createPost(receiver.url, parseSecrets(SECRET), clock)('1', '{}')
    await came.opened
    await clock.advance(9_999)
    await clock.advance(1)
    expect(await answer).toMatch(/timeout/)
    const { url } = await startReceiver(SECRET).then(async (gone) => {
      await gone.close()
      return gone
    })
    expect(await createPost(url, parseSecrets(SECRET), systemClock)('1', '{}')).toMatch(/ECONNREFUSED/)
  })

  it('does not wait for a body that never ends', async () => {
    const receiver = await useReceiver(SECRET, (_received, response) => {
      response.writeHead(200).write('…')
    })
    expect(await createPost(receiver.url, parseSecrets(SECRET), systemClock)('1', '{}')).toBeUndefined()
  })
})

describe('a delivery', () => {
  /** A delivery to a receiver that fails, with the times of its attempts in seconds. */
  function failing(answers: (attempt: number) => number | undefined) {
    const clock = createManualClock()
    const attempts: number[] = []
    const failures: string[] = []
    const post = async () => answers(attempts.push(clock.monotonic() / 1000))
    const ended = deliver(EVENT, post, clock, (ms, failure) => {
      failures.push(failure)
      return clock.sleep(ms)
    }).then(
      () => 'delivered',
      (error) => error,
    )
    return { clock, attempts, failures, ended }
  }

  it('is tried again after 5 s, and each time after twice as long, up to an hour', async () => {
    const { clock, attempts, failures, ended } = failing((attempt) => (attempt < 13 ? 500 : undefined))
    await clock.advance(DAY_MS)
    expect(await ended).toBe('delivered')
    const pauses = attempts.slice(1).map((at, index) => at - (attempts[index] ?? 0))
    expect(pauses).toEqual([5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600])
    expect(failures[0]).toBe('The receiver has not taken an event: 500. Again in 5 s.')
    expect(clock.waiting).toBe(0)
  })

  it('ends with exit code 1 after three days in vain', async () => {
    const { clock, attempts, ended } = failing(() => 503)
    await clock.advance(3 * DAY_MS)
    expect(await ended).toMatchObject({ exitCode: 1 })
    const last = attempts.at(-1) ?? 0
    expect(last).toBeGreaterThan((3 * DAY_MS) / 1000 - 3600)
    expect(last).toBeLessThanOrEqual((3 * DAY_MS) / 1000)
  })

  it('ends with exit code 2 at once when the receiver answers 410, also after other failures', async () => {
    const { clock, attempts, ended } = failing((attempt) => (attempt < 3 ? 500 : 410))
    await clock.advance(60_000)
    expect(await ended).toMatchObject({ exitCode: 2 })
    expect(attempts).toEqual([0, 5, 15])
  })
})

test.each([
  ['none', ''],
  ['three', `${SECRET} ${SECRET} ${SECRET}`],
  ['one of 23 bytes', `whsec_${Buffer.alloc(23).toString('base64')}`],
  ['one of 65 bytes', `whsec_${Buffer.alloc(65).toString('base64')}`],
  ['one without its prefix', Buffer.alloc(32).toString('base64')],
  ['one that is no base64', 'whsec_%%%%'],
])('a file with %s is no file of secrets, and is not repeated', (_what, text) => {
  expect(() => parseSecrets(text)).toThrow(/^--secret-file must have one or two secrets: whsec_/)
})
