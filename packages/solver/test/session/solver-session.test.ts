import { inspect } from 'node:util'
import { recoverMessageAddress } from 'viem'
import { expect, it } from 'vitest'
import { deferred } from '../../../../test/support/deferred.js'
import { sessionMessage } from '../../../protocol/src/solvers/registration-messages.js'
import { account, answersOn, quoteRequest, startSession } from './session-fixture.js'
import { NONCE, type ServerConnection } from './session-server.js'

it('a challenge is answered with a hello that is signed over its nonce, and for the configured origin only', async () => {
  const { server, connection } = await startSession()
  const instance = await connection(0)
  instance.send({ type: 'challenge', nonce: NONCE, serverTime: 1, audience: 'https://victim.example' })
  await expect.poll(() => instance.received).toHaveLength(1)
  const [hello] = instance.received
  const { type, signature, ...signed } = hello
  const address = account.address.toLowerCase()
  expect([type, signed]).toEqual([
    'hello',
    { address, name: 'Cosmo', audience: server.url, chainIds: [1, 31337] },
  ])
  const message = sessionMessage('Service', { ...signed, nonce: NONCE })
  expect(await recoverMessageAddress({ message, signature })).toBe(account.address)
})

it('an account that cannot sign is reported, and the connection is opened again', async () => {
  const signMessage = () => Promise.reject(new Error('locked'))
  const { connection, timers, errors } = await startSession({
    account: { address: account.address, signMessage },
  })
  ;(await connection(0)).challenge()
  await expect.poll(timers.waiting).toEqual([250])
  expect(errors).toEqual([new Error('locked')])
})

it('a quote request is answered with the offer, whose amounts are decimal strings', async () => {
  const { opened, asked } = await startSession({
    async answer(request) {
      const { inputToken, outputToken, user, amount, orderType, depositDeadline, fillDeadline } = request
      const amounts = { inputAmount: amount, outputAmount: 2n ** 200n, nonce: 7n }
      const terms = { inputToken, outputToken, user, orderType, depositDeadline, fillDeadline }
      const quote = { solver: account.address, outputChainId: 31337, ...terms, ...amounts }
      return { quote, signature: '0x12' }
    },
  })
  const instance = await opened(0)
  instance.send(quoteRequest('first'))
  await expect.poll(() => answersOn(instance)).toHaveLength(1)
  expect(asked[0]).toMatchObject({ id: 'first', kind: 'FIRM', amount: 10n ** 18n })
  expect(answersOn(instance)[0]).toMatchObject({
    type: 'quote',
    id: 'first',
    quote: { inputAmount: String(10n ** 18n), outputAmount: String(2n ** 200n), orderType: 0, nonce: '7' },
    signature: '0x12',
  })
})

it.each([
  ['an order type', { orderType: 'EXACT_BOTH' }],
  ['a deposit mode', { depositMode: 'TELEPATHY' }],
  ['a kind', { kind: 'BINDING' }],
  ['an address', { userAddress: '0x12' }],
  ['an amount', { amount: 1000 }],
  ['a chain', { chainId: '31337' }],
  ['a deadline', { deadline: -1 }],
])('a quote request with %s that the solver does not know is declined', async (_, change) => {
  const { opened, asked } = await startSession()
  const instance = await opened(0)
  instance.send(quoteRequest('new', change))
  await expect.poll(() => answersOn(instance)).toEqual([{ type: 'decline', id: 'new', code: 'OTHER' }])
  expect(asked).toEqual([])
})

it('a quote request without a destination chain and a deposit mode is one on its own chain, with a deposit at the contract', async () => {
  const { opened, asked } = await startSession()
  const instance = await opened(0)
  instance.send(quoteRequest('short', { destinationChainId: undefined, depositMode: undefined }))
  await expect.poll(() => answersOn(instance)).toEqual([{ type: 'decline', id: 'short', code: 'PAUSED' }])
  expect(asked).toMatchObject([{ destinationChainId: 31337, depositMode: 'CONTRACT' }])
})

it('answers are sent in the order in which they are ready', async () => {
  const first = deferred()
  const { opened } = await startSession({
    async answer({ id }) {
      if (id === 'first') await first.opened
      return { decline: 'PAUSED' }
    },
  })
  const instance = await opened(0)
  instance.send(quoteRequest('first'))
  instance.send(quoteRequest('second'))
  await expect.poll(() => answersOn(instance).map(({ id }) => id)).toEqual(['second'])
  first.open()
  await expect.poll(() => answersOn(instance).map(({ id }) => id)).toEqual(['second', 'first'])
})

it('pings are answered, and results are passed on', async () => {
  const { opened, results } = await startSession()
  const instance = await opened(0)
  instance.send({ type: 'result', id: 'first', outcome: 'INVALID', reason: 'nonce_used' })
  instance.send({ type: 'ping', id: 'p1' })
  await expect.poll(() => answersOn(instance)).toEqual([{ type: 'pong', id: 'p1' }])
  expect(results).toEqual([{ type: 'result', id: 'first', outcome: 'INVALID', reason: 'nonce_used' }])
})

it.each<[string, (connection: ServerConnection) => void]>([
  ['the reason of a close', ({ socket }) => socket.close(1008, 'go \u001b[2J\u0007 away')],
  ['a text that is not JSON', ({ socket }) => socket.send('\u001b[2J\u0007')],
])('%s cannot control a terminal', async (_what, end) => {
  const { opened, losses } = await startSession()
  end(await opened(0))
  await expect.poll(() => losses.length).toBe(1)
  expect(inspect(losses[0])).not.toMatch(/\\x1B|\\u001b|\p{Cc}(?<!\n)/iu)
  expect(losses[0]?.message).toContain('?')
})
