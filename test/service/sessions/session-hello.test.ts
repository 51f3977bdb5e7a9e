import { once } from 'node:events'
import { pino } from 'pino'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { solverAccounts } from '../../support/chain/chain.js'
import { eventually } from '../../support/eventually.js'
import { startScene } from '../../support/service/scene.js'
import { startService, type TestService } from '../../support/service/service.js'
import {
  grpc,
  messageOf,
  type SessionConnection,
  type SessionMessage,
  type SessionTransport,
  webSocket,
} from '../../support/sessions/session-connections.js'
import { openSession, sessionText, signedHello } from '../../support/sessions/session-solver.js'

const [account, other, third] = solverAccounts
const PUBLIC_URL = 'https://quotes.example'

const { chain, service: usual } = await startScene({ bonded: 2 })
let service: TestService = usual

afterEach(async () => {
  if (service !== usual) await service.close()
  service = usual
})

const start = async (environment: Record<string, string>) => {
  service = await startService(chain, environment)
}

function connect(transport: SessionTransport, forwardedFor?: string): SessionConnection {
  const connection = transport.connect(service.url, forwardedFor === undefined ? {} : { forwardedFor })
  onTestFinished(() => connection.leave())
  return connection
}

const options = () => ({ audience: service.url, chainIds: [chain.chainId] })
const nonceOf = async (connection: SessionConnection) => (await messageOf(connection, 'challenge')).nonce

/** Sends a hello, which is signed for the challenge and then changed. @returns the end */
async function greet(
  transport: SessionTransport,
  change: (hello: SessionMessage) => SessionMessage,
  signer = account,
) {
  const connection = connect(transport)
  const hello = await signedHello(signer, options(), await nonceOf(connection))
  connection.send(change(hello))
  const { code, reason, text } = await connection.ended
  return { code, reason, text, connection }
}

const listed = async () => (await service.get(`/v1/${chain.chainId}/solvers`)).body

it('the error of a wrong signature has the text that it must be over', async () => {
  const { connection } = await greet(webSocket, (hello) => ({ ...hello, name: 'Another' }))
  const { details } = await messageOf(connection, 'error')
  const text = sessionText(account, { ...options(), name: 'Another' }, await nonceOf(connection))
  const message = `must be an EIP-191 signature by ${account.address.toLowerCase()} over ${JSON.stringify(text)}`
  expect(details).toEqual([{ field: 'signature', message }])
})

const REFUSED = 1008

describe('a hello is refused', () => {
  it('when it was captured on another connection', async () => {
    const first = connect(webSocket)
    const hello = await signedHello(account, options(), await nonceOf(first))
    const second = connect(webSocket)
    await nonceOf(second)
    second.send(hello)
    expect(await second.ended).toMatchObject({ code: REFUSED, reason: 'SIGNATURE_INVALID' })
    first.send(hello)
    await messageOf(first, 'ready')
    const third = connect(webSocket)
    await nonceOf(third)
    third.send(hello)
    expect(await third.ended).toMatchObject({ code: REFUSED, reason: 'SIGNATURE_INVALID' })
  })

  it("when a hostile instance passes on this instance's challenge, with or without its own origin", async () => {
    for (const audience of ['http://hostile.example', service.url]) {
      const relay = connect(webSocket)
      // The solver signs the origin that it dials.
      const dialled = { ...options(), audience: 'http://hostile.example' }
      const hello = await signedHello(account, dialled, await nonceOf(relay))
      relay.send({ ...hello, audience })
      const reason = audience === service.url ? 'SIGNATURE_INVALID' : 'AUDIENCE_REJECTED'
      expect(await relay.ended).toMatchObject({ code: REFUSED, reason })
    }
    await eventually(listed, (list) => list.length === 0)
  })

  it.each<[string, string, object, typeof account?]>([
    ['its name is not the one that was signed', 'SIGNATURE_INVALID', { name: 'Another' }],
    ['its address is not the one that was signed', 'SIGNATURE_INVALID', { address: other.address }],
    ['its signature is another', 'SIGNATURE_INVALID', { signature: `0x${'11'.repeat(64)}1b` }],
    ['a chain is not served', 'CHAIN_NOT_SUPPORTED', { chainIds: [chain.chainId, 1] }],
    ['a chain is given twice', 'INVALID_ARGUMENT', { chainIds: [chain.chainId, chain.chainId] }],
    ['the solver has no bond', 'BOND_INSUFFICIENT', {}, third],
  ])('when %s', async (_what, reason, change, signer) => {
    const end = await greet(webSocket, (hello) => ({ ...hello, ...change }), signer)
    expect(end).toMatchObject({ code: REFUSED, reason })
    await eventually(listed, (list) => list.length === 0)
  })

  it('when another message comes first, or a second one before ready', async () => {
    const first = connect(webSocket)
    await nonceOf(first)
    first.send({ type: 'pong', id: 'a' })
    expect(await first.ended).toMatchObject({ code: REFUSED, reason: 'INVALID_ARGUMENT' })
    const second = connect(webSocket)
    const hello = await signedHello(account, options(), await nonceOf(second))
    second.send(hello)
    second.send(hello)
    expect(await second.ended).toMatchObject({ code: REFUSED, reason: 'INVALID_ARGUMENT' })
    await eventually(listed, (list) => list.length === 0)
  })
})

describe.each([
  { transport: webSocket, invalid: REFUSED, tooLong: [1009, ''], off: 501 },
  { transport: grpc, invalid: 3, tooLong: [3, expect.stringContaining('see body')], off: 12 },
])('on $transport.name, a hello is refused', ({ transport, invalid, tooLong, off }) => {
  it('when a field is invalid, and the error names each', async () => {
    const bad = { address: '0x1', name: '', audience: 'ftp://a', chainIds: [], signature: '0x' }
    const { connection, ...end } = await greet(transport, (hello) => ({ ...hello, ...bad }))
    expect(end).toMatchObject({ code: invalid, reason: 'INVALID_ARGUMENT' })
    const fields = ['chainIds', 'audience', 'address', 'name', 'signature']
    expect(end.text).toContain(transport === webSocket ? 'chainIds must be' : `see ${fields.join(', ')}`)
    if (transport !== webSocket) return
    const { details } = await messageOf(connection, 'error')
    expect(details.map(({ field }: { field: string }) => field)).toEqual(fields)
  })

  it('when it is longer than 4 KiB', async () => {
    const { code, text } = await greet(transport, (hello) => ({ ...hello, name: 'x'.repeat(5000) }))
    expect([code, text]).toEqual(tooLong)
  })

  it('when the operator has turned sessions off', async () => {
    await start({ SOLVER_SESSIONS: 'false' })
    expect(await connect(transport).ended).toMatchObject({ code: off, reason: 'SESSIONS_OFF' })
  })
})

describe('in production', () => {
  it('without PUBLIC_URLS no session opens, and the start says so', async () => {
    const lines: { msg: string }[] = []
    const log = pino({ level: 'info' }, { write: (line) => lines.push(JSON.parse(line)) })
    service = await startService(chain, { NODE_ENV: 'production' }, { log })
    expect(lines.map(({ msg }) => msg)).toContainEqual(expect.stringContaining('PUBLIC_URLS'))
    expect(await connect(webSocket).ended).toMatchObject({ code: 501, reason: 'SESSIONS_OFF' })
  })

  it('only the origins of PUBLIC_URLS are an audience', async () => {
    await start({ NODE_ENV: 'production', PUBLIC_URLS: `${PUBLIC_URL}/` })
    const end = await greet(webSocket, (hello) => hello)
    expect(end.reason).toBe('AUDIENCE_REJECTED')
    const session = await openSession(service.url, chain, account, { audience: PUBLIC_URL })
    session.leave()
  })
})

it('a solver opens no more sessions in a minute than RATE_LIMIT_SESSIONS, from any addresses', async () => {
  await start({ TRUST_PROXY: '1', RATE_LIMIT_SESSIONS: '2' })
  const open = (solver: typeof account, forwardedFor: string) =>
    openSession(service.url, chain, solver, { forwardedFor })
  for (const address of ['198.51.100.1', '198.51.100.2']) (await open(account, address)).leave()
  await expect(open(account, '198.51.100.3')).rejects.toThrow('RATE_LIMITED')
  const another = await open(other, '198.51.100.3')
  another.leave()
})

it('a session that is refused does not count', async () => {
  await start({ RATE_LIMIT_SESSIONS: '1', TRUST_PROXY: '1' })
  const open = (forwardedFor: string, events = {}) =>
    openSession(service.url, chain, account, { forwardedFor, events })
  await expect(open('198.51.100.1', { after: 'nonsense' })).rejects.toThrow('CURSOR_UNKNOWN')
  const session = await open('198.51.100.2')
  session.leave()
  await expect(open('198.51.100.3')).rejects.toThrow('RATE_LIMITED')
})

it('text that is no JSON object, and a binary frame, are refused', async () => {
  for (const data of [
    '{',
    '[]',
    Buffer.from('{}'),
    '{"type":"hello","type":"hello"}',
    '{"type":"nothing"}',
  ]) {
    const socket = new WebSocket(`${service.url.replace('http', 'ws')}/v1/solvers/session`)
    await once(socket, 'message')
    socket.send(data)
    const [error] = await once(socket, 'message')
    expect(JSON.parse(String(error))).toMatchObject({ type: 'error', code: 'INVALID_ARGUMENT' })
    expect((await once(socket, 'close'))[0]).toBe(1008)
  }
})
