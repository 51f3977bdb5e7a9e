import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { solverAccounts, startChain, type TestChain } from './chain.js'
import { quoteRequest } from './quote-request.js'
import { startService } from './service.js'
import { honest, signedRegistration, startSolver, type TestSolver } from './test-solver.js'

const [account, otherAccount] = solverAccounts

let chain: TestChain
let solver: TestSolver
let other: TestSolver
let folder: string
let path: string

beforeAll(async () => {
  chain = await startChain({ bonded: 2 })
  solver = await startSolver(chain, account, honest({ output: '1000' }))
  other = await startSolver(chain, otherAccount, honest({ output: '2000' }))
  folder = await mkdtemp(join(tmpdir(), 'quote-aggregator-'))
  path = `/v1/${chain.chainId}/solvers`
})

afterAll(async () => {
  await Promise.all([solver?.close(), other?.close()])
  await chain?.stop()
  await rm(folder, { recursive: true, force: true })
})

describe('a restart', () => {
  it('keeps registered solvers in a file, asks them, and still refuses their old messages', async () => {
    const environment = { DB_PATH: join(folder, 'kept.db') }
    const before = await startService(chain, environment)
    const registration = await signedRegistration(account, { endpointUrl: solver.endpointUrl, name: 'Kept' })
    expect((await before.post(`${path}/register`, registration)).status).toBe(200)
    const listBefore = await before.get(path)
    await before.close()

    const after = await startService(chain, environment)
    expect((await after.get(path)).body).toEqual(listBefore.body)
    const quote = await after.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))
    expect(quote.body.quote.solver).toBe(account.address)
    expect((await after.post(`${path}/register`, registration)).body.code).toBe('TIMESTAMP_REUSED')
    await after.close()
  })

  it('keeps nothing with :memory:', async () => {
    const before = await startService(chain, { DB_PATH: ':memory:' })
    await solver.register(before)
    expect((await before.get(path)).body).toHaveLength(1)
    await before.close()
    const after = await startService(chain, { DB_PATH: ':memory:' })
    expect((await after.get(path)).body).toEqual([])
    await after.close()
  })
})

describe('two instances side by side', () => {
  it('have each their own solvers', async () => {
    const left = await startService(chain, { DB_PATH: join(folder, 'left.db') })
    const right = await startService(chain, { DB_PATH: join(folder, 'right.db') })
    await solver.register(left)
    await other.register(right)

    for (const [instance, address] of [
      [left, account.address],
      [right, otherAccount.address],
    ] as const) {
      const list = await instance.get(path)
      expect(list.body.map((item: { address: string }) => item.address)).toEqual([address])
      const quote = await instance.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))
      expect(quote.body.quote.solver).toBe(address)
      expect(quote.body.alternativeQuotes).toEqual([])
    }
    await Promise.all([left.close(), right.close()])
  })
})
