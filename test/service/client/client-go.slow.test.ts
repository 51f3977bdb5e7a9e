import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { user } from '../../support/chain/chain.js'
import { createTraffic } from '../../support/chain/event-traffic.js'
import { startProcess } from '../../support/process/process.js'
import { startScene } from '../../support/service/scene.js'
import { honest } from '../../support/solvers/solver.js'

const run = promisify(execFile)
const PACKAGES = '/usr/share/gocode'
const NEEDED = [
  '/usr/bin/go',
  '/usr/bin/protoc-gen-go',
  '/usr/bin/protoc-gen-go-grpc',
  `${PACKAGES}/src/google.golang.org/grpc`,
]
const BUILD_MS = 150_000

const { chain, service, solvers } = await startScene({ solvers: ['Ada'] })
solvers[0].behave(honest({ output: '2500000000' }))

describe.skipIf(!NEEDED.every(existsSync))('grpc-go, from the same protos (needs Go of Debian)', () => {
  let folder: string

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'quote-aggregator-'))
    await buildProgram()
  }, BUILD_MS)

  afterAll(() => rm(folder, { recursive: true, force: true }))

  async function buildProgram(): Promise<void> {
    const template = 'examples/go/buf.gen.yaml'
    await run('npx', ['buf', 'generate', '--template', template, '--output', `${folder}/src`])
    const env = { ...process.env, GO111MODULE: 'off', GOPATH: `${folder}:${PACKAGES}` }
    await run('/usr/bin/go', ['build', '-o', join(folder, 'quote'), './examples/go'], { env })
  }

  it('gets a quote and follows events over gRPC', async () => {
    const traffic = await createTraffic(chain, { seed: 5 })
    const address = new URL(service.url).host
    const program = startProcess(
      join(folder, 'quote'),
      [
        ['-address', address],
        ['-input', chain.contracts.weth],
        ['-output', chain.contracts.usdc],
        ['-user', user.address],
        ['-events', '2'],
      ].flat(),
      {},
    )
    const [, orderId] = await program.waitFor(/quote 2500000000 (0x[0-9a-f]{64})\n/)
    const order = traffic.order()
    await traffic.mine([traffic.actions.deposit(order)])
    await traffic.mine([traffic.actions.fill(order)])

    expect(await program.exited).toBe(0)
    expect(program.output().split('\n')).toEqual([
      'connected [31337]',
      `quote 2500000000 ${orderId}`,
      `Deposited ${order.orderId} ${order.inputAmount}`,
      `Settled ${order.orderId}`,
      '',
    ])
  })
})
