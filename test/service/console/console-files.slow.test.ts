import { afterAll, beforeAll, expect, it } from 'vitest'
import { startChain, type TestChain } from '../../support/chain/chain.js'
import { startServiceProcess } from '../../support/process/process.js'
import { environmentFor } from '../../support/service/service.js'

let chain: TestChain

beforeAll(async () => {
  chain = await startChain({ bonded: 0 })
})
afterAll(() => chain?.stop())

/** Starts the built service. @returns its base URL */
async function start(environment: Record<string, string>): Promise<string> {
  const service = startServiceProcess({ ...environmentFor(chain), ...environment })
  const [, url = ''] = await service.waitFor(/"url":"([^"]+)"/)
  return url
}

it('the built service serves its console, which counts against no limit', async () => {
  const url = await start({ RATE_LIMIT_MAX: '1' })
  for (let time = 0; time < 3; time++) {
    const page = await fetch(url)
    expect([page.status, page.headers.get('ratelimit-limit')]).toEqual([200, null])
    expect(page.headers.get('x-content-type-options')).toBe('nosniff')
    expect(page.headers.get('referrer-policy')).toBe('no-referrer')
    const [, script = ''] = /src="\.\/([^"]+)"/.exec(await page.text()) ?? []
    expect((await fetch(`${url}/${script}`)).headers.get('content-type')).toContain('text/javascript')
  }
})

it('paths that are not of the console stay errors, and those of the API stay what they are', async () => {
  const url = await start({})
  const unknown = await fetch(`${url}/orders`)
  expect([unknown.status, await unknown.json()]).toEqual([
    404,
    { error: 'There is nothing at this path.', code: 'ROUTE_NOT_FOUND' },
  ])
  const accept = 'text/html,application/xhtml+xml,*/*;q=0.8'
  const lost = await fetch(`${url}/v1/nope`, { headers: { accept } })
  expect([lost.status, lost.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
  expect(await lost.text()).toContain('There is nothing at this address')
  expect((await fetch(`${url}/assets/none.js`)).status).toBe(404)
  expect((await fetch(`${url}/v1/chains`)).status).toBe(200)
})

it('with CONSOLE=false, / leads to the reference', async () => {
  const url = await start({ CONSOLE: 'false' })
  const { status, headers } = await fetch(url, { redirect: 'manual' })
  expect([status, headers.get('location')]).toEqual([302, 'docs'])
})
