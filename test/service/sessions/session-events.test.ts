import { expect, it } from 'vitest'
import { solverAccounts, user } from '../../support/chain/chain.js'
import { createCalls } from '../../support/chain/contract-calls.js'
import { temporaryFile } from '../../support/databases/temporary-file.js'
import { eventually } from '../../support/eventually.js'
import { generatedDocument, readDocument } from '../../support/openapi/document.js'
import { grpc, webSocket } from '../../support/sessions/session-connections.js'
import { offering, type SessionSolver } from '../../support/sessions/session-solver.js'
import { startSessionStage } from '../../support/sessions/session-stage.js'
import { contractStruct } from '../../support/solvers/solver.js'
import { webSocket as eventSocket } from '../../support/streams/transports.js'

const [account, other] = solverAccounts

const { chain, start, open, ask } = await startSessionStage()
const calls = createCalls(chain.devnet, chain.contracts.settlement)
await calls.fund(chain.contracts.weth, user, 10n ** 20n)

/** Takes the best quote. @returns the order's id */
async function deposit(): Promise<string> {
  const { body } = await ask()
  await calls.send(user, 'deposit', [contractStruct(body.quote), body.solverSignature])
  return body.orderId
}
const eventsOf = ({ messages }: SessionSolver) => messages.filter(({ type }) => type === 'event')
const idsOf = (session: SessionSolver) =>
  eventsOf(session).map(({ event }) => (event.deposited ?? event).orderId)

it('on gRPC, a solver gets the events of its own orders, and resumes after a cursor', async () => {
  const transport = grpc
  await start({ DB_PATH: temporaryFile() })
  const first = await open(account, { transport, behaviour: offering('1000'), events: {} })
  const bystander = await open(other, { transport, behaviour: offering('900'), events: {} })
  const one = await deposit()
  const { cursor } = await first.next('event')
  expect(idsOf(first)).toEqual([one])
  first.leave()
  await first.ended

  // Not connected: the order of the other solver, then one of the first solver from a session without events.
  const theirs = await eventually(deposit, (id) => id !== undefined)
  await bystander.next('event')
  expect(idsOf(bystander)).toEqual([theirs])
  bystander.leave()
  await bystander.ended
  const plain = await open(account, { transport, behaviour: offering('1000') })
  const two = await deposit()
  const resumed = await open(account, { transport, behaviour: offering('1000'), events: { after: cursor } })
  await resumed.next('event')
  const three = await deposit()
  await resumed.next('event', 1)
  expect(idsOf(resumed)).toEqual([two, three])
  expect(eventsOf(plain)).toEqual([])
  expect(await plain.ended).toMatchObject({ reason: 'SESSION_REPLACED' })

  const earliest = await open(account, { transport, events: { after: 'earliest' } })
  await earliest.next('event', 2)
  expect(idsOf(earliest)).toEqual([one, two, three])
})

it('an event on a WebSocket session is the object that /v1/ws sends, and AsyncAPI describes all messages', async () => {
  const service = await start()
  const stream = eventSocket.open(service.url)
  await stream.connected()
  const session = await open(account, { transport: webSocket, behaviour: offering('1000'), events: {} })
  await deposit()
  const { event, cursor } = await session.next('event')
  const [message] = await eventually(
    async () => stream.messages.filter(({ type }) => type === 'Deposited'),
    (found) => found.length > 0,
  )
  expect(event).toEqual(message)
  expect(cursor).toBe(message?.cursor)
  // The result of the quote may come after the event.
  const types = await eventually(
    async () => new Set(session.messages.map(({ type }) => type)),
    (found) => found.has('result'),
  )
  expect([...types].sort()).toEqual(['challenge', 'event', 'quoteRequest', 'ready', 'result'])
  const { problems } = readDocument(generatedDocument('asyncapi.json'))
  for (const each of session.messages)
    expect(problems(['components', 'messages', each.type, 'payload'], each)).toEqual([])
  stream.leave()
})
