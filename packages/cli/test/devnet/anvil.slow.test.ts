import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it } from 'vitest'
import { type Anvil, type AnvilOptions, startAnvil } from '../../src/devnet/anvil.js'

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

const answers = (url: string) =>
  fetch(url, { method: 'POST' }).then(
    () => true,
    () => false,
  )

describe('startAnvil', () => {
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
