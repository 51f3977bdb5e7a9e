import { existsSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { build } from 'esbuild'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { solverAccounts, startChain, type TestChain, user } from '../../support/chain/chain.js'
import { CHROMIUM } from '../../support/packages/chromium.js'
import { startService, type TestService } from '../../support/service/service.js'
import { honest, startSolver, type TestSolver } from '../../support/solvers/solver.js'

describe.skipIf(!existsSync(CHROMIUM))(`a page of another origin (needs ${CHROMIUM})`, () => {
  let chain: TestChain
  let service: TestService
  let solver: TestSolver
  let site: Server
  let browser: Browser
  let page: Page

  beforeAll(async () => {
    const [opened, bundle] = await Promise.all([
      chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] }),
      bundlePage(),
      startAll(),
    ])
    browser = opened
    site = await serve(bundle)
    page = await browser.newPage()
    await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`)
  })

  afterAll(async () => {
    await browser?.close()
    site?.close()
    site?.closeAllConnections()
    await service?.close()
    await solver?.close()
    await chain?.stop()
  })

  async function startAll(): Promise<void> {
    chain = await startChain({ bonded: 1 })
    service = await startService(chain)
    solver = await startSolver(chain, solverAccounts[0], honest({ output: '2500000000' }))
    await solver.register(service)
  }

  /** Calls a function of the page's script. */
  function callInPage(name: 'quoteAndVerify' | 'askForNothing'): Promise<unknown> {
    const { chainId, contracts, devnet } = chain
    const options = {
      serviceUrl: service.url,
      rpcUrl: devnet.rpcUrl,
      settlement: contracts.settlement,
      params: {
        chainId,
        inputToken: contracts.weth,
        outputToken: contracts.usdc,
        orderType: 'EXACT_INPUT',
        amount: '1000000000000000000',
        user: user.address,
        depositMode: 'CONTRACT',
      },
    }
    return page.evaluate(`integrator.${name}(${JSON.stringify(options)})`)
  }

  it('gets a quote, checks it against the chain and follows its order', async () => {
    expect(await callInPage('quoteAndVerify')).toEqual({
      orderId: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      outputAmount: '2500000000',
      state: 'NONE',
    })
  })

  it('gets an error that names what is wrong with its request', async () => {
    expect(await callInPage('askForNothing')).toEqual({ reason: 'INVALID_ARGUMENT', fields: ['amount'] })
  })
})

/** The script as one file for browsers; anything of Node in it would fail here. */
async function bundlePage(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: ['test/support/packages/page.ts'],
    bundle: true,
    platform: 'browser',
    format: 'iife',
    globalName: 'integrator',
    write: false,
  })
  return outputFiles[0]?.text ?? ''
}

async function serve(script: string): Promise<Server> {
  const server = createServer((request, response) => {
    const isScript = request.url === '/script.js'
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html; charset=utf-8')
    response.end(isScript ? script : '<!doctype html><script src="/script.js"></script>')
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return server
}
