import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { createTestClient, http, publicActions, walletActions } from 'viem'
import { afterEach, describe, expect, it } from 'vitest'
import { type Anvil, type AnvilOptions, startAnvil } from '../../src/devnet/anvil.js'
import { devAccounts } from '../../src/devnet/deploy.js'

const MODULE = new URL('../../src/devnet/anvil.ts', import.meta.url).href

const running: Anvil[] = []

async function start(options?: AnvilOptions) {
  const anvil = await startAnvil(options)
  running.push(anvil)
  return anvil
}

afterEach(async () => {
  await Promise.all(running.splice(0).map((anvil) => anvil.stop()))
})

const clientOf = (url: string) =>
  createTestClient({
    mode: 'anvil',
    transport: http(url, { retryCount: 0 }),
    cacheTime: 0,
    pollingInterval: 10,
  })
    .extend(publicActions)
    .extend(walletActions)

const answers = (url: string) =>
  clientOf(url)
    .getChainId()
    .then(
      () => true,
      () => false,
    )

describe('startAnvil', () => {
  it.each<[string, AnvilOptions]>([
    ['each transaction as it comes', {}],
    ['a block every 20 ms', { extraArgs: ['--block-time', '0.02'] }],
  ])('keeps the chain clock at or before the wall clock when it mines %s', async (_, options) => {
    const { url } = await start(options)
    const client = clientOf(url)
    const [account, { address }] = devAccounts
    for (let sent = 0; sent < 40; sent++) {
      const hash = await client.sendTransaction({
        account,
        to: address,
        value: 1n,
        gas: 21_000n,
        chain: null,
      })
      const { blockNumber } = await client.waitForTransactionReceipt({ hash })
      const { timestamp } = await client.getBlock({ blockNumber })
      const aheadMs = Number(timestamp) * 1000 - Date.now()
      expect(aheadMs).toBeLessThanOrEqual(0)
      expect(aheadMs).toBeGreaterThan(-5000)
    }
    expect(await client.getBlockNumber()).toBeGreaterThanOrEqual(40n)
  })

  it('fails with the output of anvil when anvil does not start', async () => {
    const { port } = await start()
    await expect(startAnvil({ port })).rejects.toThrow(
      /anvil exited before it listened:\n.*Address already in use/,
    )
    await expect(startAnvil({ extraArgs: ['--nonsense'] })).rejects.toThrow(
      /unexpected argument '--nonsense'/,
    )
  })

  it('ends the process on stop, which may be called again', async () => {
    const before = process.listenerCount('exit')
    const { pid, stop } = await startAnvil()
    await Promise.all([stop(), stop()])
    expect(() => process.kill(pid, 0)).toThrow(/ESRCH/)
    await stop()
    expect(process.listenerCount('exit')).toBe(before)
  })

  it('starts an anvil that ends with the process that started it', async () => {
    const script = `const { startAnvil } = await import('${MODULE}'); console.log((await startAnvil()).url); process.exit()`
    const { stdout } = await promisify(execFile)(process.execPath, [
      ...['--import', 'tsx', '--input-type', 'module'],
      ...['--eval', script],
    ])
    const url = stdout.trim()
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    await expect.poll(() => answers(url), { interval: 10 }).toBe(false)
  })
})
