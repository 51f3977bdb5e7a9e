import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { user } from '../../support/chain/chain.js'
import { createTraffic } from '../../support/chain/event-traffic.js'
import { generatePythonStubs, HAS_PYTHON_GRPC, PYTHON } from '../../support/packages/python-stubs.js'
import { startProcess } from '../../support/process/process.js'
import { startScene } from '../../support/service/scene.js'
import { honest } from '../../support/solvers/solver.js'

const { chain, service, solvers } = await startScene({ solvers: ['Ada'] })
solvers[0].behave(honest({ output: '2500000000' }))

describe.skipIf(!HAS_PYTHON_GRPC)('grpcio of Python, from the same protos (needs gRPC of Debian)', () => {
  let folder: string

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'quote-aggregator-'))
    await generatePythonStubs(folder)
  })

  afterAll(() => rm(folder, { recursive: true, force: true }))

  function startProgram(...args: string[]) {
    const { host } = new URL(service.url)
    const tokens = ['--input', chain.contracts.weth, '--output', chain.contracts.usdc]
    const all = ['examples/python/quote.py', '--address', host, ...tokens, '--user', user.address, ...args]
    return startProcess(PYTHON, all, { PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: '1' })
  }

  it('gets a quote and follows events over gRPC', async () => {
    const traffic = await createTraffic(chain, { seed: 5 })
    const program = startProgram('--events', '2')
    const [, orderId] = await program.waitFor(/quote 2500000000 (0x[0-9a-f]{64})\n/)
    const order = traffic.order()
    await traffic.mine([traffic.actions.deposit(order)])
    await traffic.mine([traffic.actions.fill(order)])

    expect(await program.exited).toBe(0)
    expect(program.output().split('\n')).toEqual([
      'connected [31337]',
      `quote 2500000000 ${orderId}`,
      `deposited ${order.orderId}`,
      `settled ${order.orderId}`,
      '',
    ])
  })

  it("reads an error's reason and its bad fields", async () => {
    const program = startProgram('--amount', '0')
    expect(await program.exited).toBe(1)
    expect(program.output().split('\n')).toEqual([
      'connected [31337]',
      'INVALID_ARGUMENT The request is not valid: see amount.',
      expect.stringMatching(/^ {2}amount: must be /),
      '',
    ])
  })
})
