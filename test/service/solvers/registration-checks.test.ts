import { pino } from 'pino'
import { toFunctionSelector } from 'viem'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { solverAccounts } from '../../support/chain/chain.js'
import { NodeError } from '../../support/model-chain/model-node.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startService, type TestService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { startTrap } from '../../support/solvers/raw-solver.js'
import {
  type Behaviour,
  honest,
  signedRegistration,
  startSolver,
  type TestSolver,
} from '../../support/solvers/solver.js'

const [account, otherAccount] = solverAccounts
const NO_USER = '0x000000000000000000000000000000000000dEaD'

let service: TestService
let solver: TestSolver
let other: TestSolver

const chain = await shared(startModelChain({ bonded: 2 }))

beforeEach(async () => {
  service = await startService(chain)
  solver = await startSolver(chain, account)
  other = await startSolver(chain, otherAccount)
})

afterEach(async () => {
  await service.close()
  await Promise.all([solver.close(), other.close()])
})

const send = (body: object, to = service) => to.post(`/v1/${chain.chainId}/solvers/register`, body)

async function registerAt(endpointUrl: string, to = service, signer = account) {
  const answer = await send(await signedRegistration(signer, { endpointUrl }), to)
  expect([answer.status, answer.body.status]).toEqual([200, 'registered'])
  return answer.body.check
}

async function checkOf(behaviour: Behaviour) {
  solver.behaveInChecks(behaviour)
  return registerAt(solver.endpointUrl)
}

const askForQuote = (to = service) => to.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))

/** Signs with the account's key over values other than it sends, as a wrong domain or struct does. */
const wronglySigned: Behaviour = async (ask, { quoteFor, sign }) => {
  const quote = quoteFor(ask)
  const { signature } = await sign({ ...quote, nonce: '99' })
  return { quote, signature }
}

describe('a registration returns the result of one request to the endpoint', () => {
  it('for a valid reply', async () => {
    expect(await checkOf(honest())).toMatchObject({
      outcome: 'QUOTED',
      explanation: 'A valid reply: its form is right, and the solver has signed it.',
    })
  })

  it('for a wrong signature, explained as in the record of a quote', async () => {
    const { outcome, explanation } = await checkOf(wronglySigned)
    solver.behave(wronglySigned)
    const { body } = await askForQuote()
    const record = await service.get(`/v1/${chain.chainId}/quote/${body.quoteId}`)
    expect([outcome, explanation]).toEqual(['INVALID', record.body.solvers[0].explanation])
    expect(explanation).toContain('check the key, the EIP-712 domain')
    expect(explanation).toContain(
      `The primary type is ServiceQuote. The domain is {"name":"${chain.domain.name}","version":"1","chainId":${chain.chainId},"verifyingContract":"${chain.contracts.settlement}"}.`,
    )
  })
})

it('the request is for tokens that do not exist until a pair is quoted, then for the pair quoted last', async () => {
  await registerAt(solver.endpointUrl)
  const request = { ...quoteRequest(chain), amount: '1234567' }
  await other.register(service)
  expect((await service.post(`/v1/${chain.chainId}/quote`, request)).status).toBe(200)
  const asked = other.asks.at(-1)
  await registerAt(solver.endpointUrl)

  const [first, second] = solver.checks.map(({ ask }) => ask)
  expect(first?.inputToken).toBe('0x0000000000000000000000000000000000000001')
  expect(second).toEqual({
    ...asked,
    amount: '1000000',
    userAddress: NO_USER,
    depositDeadline: expect.any(Number),
    fillDeadline: expect.any(Number),
  })
  const { headers } = solver.checks[1] ?? {}
  expect([headers?.['x-quote-kind'], headers?.['x-quote-id']]).toEqual(['indicative', undefined])
})

it('in production, an endpoint that cannot be reached looks like one that is not HTTP', async () => {
  const strict = await startService(chain, { NODE_ENV: 'production', SOLVER_ENDPOINT_ALLOWLIST: '127.0.0.1' })
  onTestFinished(() => strict.close())
  const [closed, hangingUp] = [await startTrap(), await startTrap()]
  onTestFinished(() => hangingUp.close())
  await closed.close()
  const checks = []
  for (const { port } of [closed, hangingUp, new URL(solver.endpointUrl)])
    checks.push(await registerAt(`https://127.0.0.1:${port}`, strict))
  const same = { outcome: 'FAILED', explanation: expect.stringMatching(/^No valid HTTP answer came/) }
  expect(checks).toEqual([same, checks[0], checks[0]])
})

it('an endpoint that answers with the valid signature of another solver is refused, and what is registered stays', async () => {
  await solver.register(service, 'First')
  other.behaveInChecks(honest())
  const body = await signedRegistration(account, { endpointUrl: other.endpointUrl, name: 'Second' })
  const { status, body: error } = await send(body)
  expect([status, error.code]).toEqual([400, 'ENDPOINT_REJECTED'])
  expect(error.error).toBe(
    `The endpoint belongs to another solver: its quote is signed by ${otherAccount.address}. Register the endpoint of your own solver.`,
  )
  expect((await service.get(`/v1/${chain.chainId}/solvers`)).body).toMatchObject([{ name: 'First' }])
  expect((await askForQuote()).status).toBe(200)
  expect([solver.asks.length, other.asks.length]).toEqual([1, 0])
  // Its timestamp is still new.
  other.behaveInChecks(async (_ask, _solver, { response }) => void response.writeHead(422).end('{}'))
  expect((await send(body)).status).toBe(200)
})

it('a chain that has not been read yet is the reason in the answer, and not an error in the log', async () => {
  const node = await chain.openNode()
  const lines: string[] = []
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) })
  // The bond can be read; the domain of the contract cannot.
  const domain = toFunctionSelector('eip712Domain()')
  node.intercept(({ params }, answer) => {
    if (JSON.stringify(params ?? []).includes(domain)) throw new NodeError(-32000, 'not yet')
    return answer()
  })
  const early = await startService(chain, { [`RPC_URL_${chain.chainId}`]: node.url }, { log })
  const { outcome, explanation } = await registerAt(solver.endpointUrl, early)
  expect([outcome, explanation]).toEqual([
    'SKIPPED',
    `The endpoint was not checked: chain ${chain.chainId} has not been read yet. Register again in 5 s to have it checked.`,
  ])
  expect(lines.filter((line) => line.includes('"level":50'))).toEqual([
    expect.stringContaining('the chain does not answer'),
  ])
  await early.close()
  await node.stop()
})
