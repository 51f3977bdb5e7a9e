import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { databases } from '../../support/databases/service-databases.js'
import { eventually } from '../../support/eventually.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { commandLine } from '../../support/process/command-line.js'
import { startService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { runKeys } from './keyed-service.js'

const KEY = /^qa_[0-9a-f]{10}_[\w-]{43}$/

const chain = await shared(startModelChain({ bonded: 0 }))

describe.each(databases)('keys on %s', (_kind, make) => {
  it('work while a service runs, and while none does', async () => {
    const { environment, drop } = await make()
    onTestFinished(drop)
    const start = () => startService(chain, environment)
    const keys = (...argv: string[]) => runKeys(environment, ...argv)
    const cli = (...argv: string[]) => commandLine(['keys', ...argv], { environment })
    let service = await start()
    const statusWith = async (key: string) =>
      (await service.send('GET', '/v1/chains', undefined, { headers: { 'x-api-key': key } })).status
    const untilStatus = (key: string, status: number) =>
      eventually(
        () => statusWith(key),
        (found) => found === status,
      )

    const limits = ['--limit', 'quote=600', '--limit', 'open-streams=200']
    const added = await keys('add', '--label', 'acme', '--expires', '90d', ...limits)
    expect(added).toMatchObject({
      label: 'acme',
      state: 'valid',
      limits: { quote: 600, 'open-streams': 200 },
      key: expect.stringMatching(KEY),
    })
    expect(added.expiresAt - added.createdAt).toBe(90 * 86_400_000)
    expect(added).not.toHaveProperty('digest')
    const { id, key } = added
    await untilStatus(key, 200)

    const { stdout, stderr, code } = await cli('list')
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(new RegExp(`${id} +acme +valid +quote=600, open-streams=200`))
    expect(stdout).not.toContain(key)
    expect(await keys('limit', id, 'quote=default', 'order=7')).toMatchObject({
      limits: { 'open-streams': 200, order: 7 },
    })
    expect((await keys('show', id)).limits).toEqual({ 'open-streams': 200, order: 7 })

    const rotated = await keys('rotate', id)
    expect(rotated).toMatchObject({ id, label: 'acme', key: expect.stringMatching(KEY) })
    await untilStatus(key, 401)
    await untilStatus(rotated.key, 200)
    expect(rotated.changedAt).toBeGreaterThan(rotated.createdAt)
    expect((await keys('list'))[0].lastUsedDay).toMatch(/^\d{4}-\d\d-\d\d$/)
    await service.close()

    const other = await keys('add', '--label', 'other')
    expect(await keys('revoke', id)).toMatchObject({ id, state: 'revoked' })
    service = await start()
    onTestFinished(() => service.close())
    expect([await statusWith(rotated.key), await statusWith(other.key)]).toEqual([401, 200])
    expect((await keys('list')).map(({ state }: { state: string }) => state)).toEqual(['revoked', 'valid'])
  })

  it('refuse what makes no sense, with a sentence', async () => {
    const { environment, drop } = await make()
    onTestFinished(drop)
    const service = await startService(chain, environment)
    await service.close()
    const cli = (...argv: string[]) => commandLine(['keys', ...argv], { environment })
    const { id } = await runKeys(environment, 'add', '--label', 'acme')
    const outcomes: [string[], number, RegExp][] = [
      [['add'], 2, /required option '--label <name>'/],
      [['add', '--label', 'acme'], 4, new RegExp(`Key ${id} has this label`)],
      [['add', '--label', ' '], 2, /must be/],
      [['add', '--label', 'b', '--limit', 'quotes=1'], 2, /must be such as quote=600/],
      [['add', '--label', 'b', '--limit', 'quote=1000001'], 2, /0 to 1000000/],
      [['add', '--label', 'b', '--limit', 'quote=-1'], 2, /must be such as/],
      [['add', '--label', 'b', '--expires', '0d'], 2, /90d or 12h/],
      [['add', '--label', 'b', '--expires', 'tomorrow'], 2, /90d or 12h/],
      [['show', 'nothing'], 4, /no key nothing/],
      [['limit', id], 2, /missing required argument/],
      [['limit', id, 'quote'], 2, /must be such as/],
      [['revoke', 'nothing'], 4, /no key nothing/],
    ]
    for (const [argv, code, text] of outcomes) {
      const ended = await cli(...argv)
      expect([argv, ended.code, ended.stdout]).toEqual([argv, code, ''])
      expect(ended.stderr).toMatch(text)
    }
    await runKeys(environment, 'revoke', id)
    for (const command of ['revoke', 'rotate'])
      expect((await cli(command, id)).stderr).toContain(`Key ${id} is revoked`)
    const short = await runKeys(environment, 'add', '--label', 'short', '--expires', '1h')
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 })
    onTestFinished(() => void vi.useRealTimers())
    expect((await cli('rotate', short.id)).stderr).toContain(`Key ${short.id} has expired`)
    vi.useRealTimers()
    const again = await runKeys(environment, 'add', '--label', 'acme')
    expect(again.id).not.toBe(id)
  })
})
