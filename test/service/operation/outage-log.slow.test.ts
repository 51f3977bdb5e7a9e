import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { solverAccounts } from '../../support/chain/chain.js'
import { eventually } from '../../support/eventually.js'
import { type RpcProxy, startRpcProxy } from '../../support/faults/rpc-proxy.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startService, type TestService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { startSolver, type TestSolver } from '../../support/solvers/solver.js'

const [account] = solverAccounts
let rpc: RpcProxy
let solver: TestSolver
let service: TestService
let lines: { level: number; msg: string }[]

const chain = await shared(startModelChain({ bonded: 1 }))

beforeEach(async () => {
  rpc = await startRpcProxy(chain.devnet.rpcUrl)
  solver = await startSolver(chain, account)
  lines = []
})

afterEach(async () => {
  await service?.close()
  await solver.close()
  rpc.close()
})

async function start(variables: Record<string, string> = {}) {
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  const environment = {
    [`RPC_URL_${chain.chainId}`]: rpc.url,
    [`POLL_INTERVAL_MS_${chain.chainId}`]: '50',
    BOND_CHECK_INTERVAL_MS: '50',
    ...variables,
  }
  service = await startService(chain, environment, { log })
}
const linesOf = (text: string) => lines.filter(({ msg }) => msg.includes(text))
const status = async () => (await service.get('/health')).body.chains[0].status

describe('the log of a chain that goes down', () => {
  it('has a line for each request that needs the chain, and no separate error for it', async () => {
    await start()
    rpc.setUp(false)
    await eventually(status, (found) => found === 'down')
    for (let time = 0; time < 3; time++) {
      const { body } = await service.get(`/v1/${chain.chainId}/order/0x${'ab'.repeat(32)}`)
      expect(body.code).toBe('CHAIN_UNAVAILABLE')
    }
    await solver.register(service, 'Ada').catch(() => {})
    expect(lines.filter(({ level }) => level === 50)).toMatchObject([{ msg: 'the chain does not answer' }])
    const requests = lines.filter((line) => 'reason' in line && line.reason === 'CHAIN_UNAVAILABLE')
    expect(requests).toHaveLength(4)
    expect(new Set(requests.map(({ msg }) => msg))).toEqual(new Set(['request']))
  })
})

describe('the log of a start', () => {
  it('has a line while a slow chain is not read yet, and one when it is', async () => {
    const { release } = rpc.hold(({ method }) => method === 'eth_call')
    await start()
    expect(linesOf('the chain')).toMatchObject([
      { level: 40, timeoutMs: 3000, msg: 'the chain has not been read yet: it is down until it is' },
    ])
    release()
    await eventually(status, (found) => found === 'ok')
    expect(linesOf('the chain').at(-1)?.msg).toBe('the chain is read again')
  })
})
