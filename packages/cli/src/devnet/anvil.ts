import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const HOST = '127.0.0.1'
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

export interface AnvilOptions {
  /** TCP port. 0, the default, takes any free one. */
  port?: number
  /** Default 31337. */
  chainId?: number
  /** Further arguments of anvil's command line. */
  extraArgs?: readonly string[]
}

/** A running local chain. */
export interface Anvil {
  url: string
  chainId: number
  port: number
  pid: number
  /** Ends the process and waits for its exit. May be called more than once. */
  stop(): Promise<void>
}

/**
 * Starts a local chain on 127.0.0.1 with anvil's usual ten funded accounts (`devAccounts` in `deploy.ts`). It
 * returns when the chain accepts connections. Anvil does not outlive this process, unless an unhandled signal
 * ends this one.
 *
 * @throws Error with anvil's output, when it exits before it listens (a port in use, an unknown argument)
 */
export async function startAnvil(options: AnvilOptions = {}): Promise<Anvil> {
  const chainId = options.chainId ?? 31337
  const statesFolder = mkdtempSync(join(tmpdir(), 'anvil-'))
  const args = ['--host', HOST, '--port', String(options.port ?? 0), '--chain-id', String(chainId)]
  // Without a folder for the states of old blocks, anvil leaves gigabytes on the disk.
  args.push('--cache-path', statesFolder, ...(options.extraArgs ?? []))
  const child = spawn(anvilBinary(), args)
  const removeStates = () => rmSync(statesFolder, { recursive: true, force: true })
  const killWithParent = () => {
    child.kill('SIGKILL')
    removeStates()
  }
  process.on('exit', killWithParent)
  const stop = async () => {
    process.off('exit', killWithParent)
    await terminate(child)
    removeStates()
  }
  try {
    const port = await listeningPort(child)
    return { url: `http://${HOST}:${port}`, chainId, port, pid: child.pid as number, stop }
  } catch (error) {
    process.off('exit', killWithParent)
    removeStates()
    throw error
  }
}

/**
 * The platform's own binary. The launcher of the npm package would run it as a child, which SIGKILL does not
 * reach.
 */
function anvilBinary(): string {
  const launcher = createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json')
  const platformPackage = `@foundry-rs/anvil-${process.platform}-${ARCHITECTURES[process.arch]}`
  const binary = process.platform === 'win32' ? 'anvil.exe' : 'anvil'
  return createRequire(launcher).resolve(`${platformPackage}/bin/${binary}`)
}

/** Anvil binds its socket before it prints the address, so a connection after this is answered. */
async function listeningPort(child: ChildProcessWithoutNullStreams): Promise<number> {
  let output = ''
  let port: string | undefined
  const listening = new Promise<void>((resolve) => {
    // Anvil logs every request: an unread pipe would fill up and block it.
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        if (port !== undefined) return
        output += chunk
        port = /Listening on [\d.]+:(\d+)\s/.exec(output)?.[1]
        if (port !== undefined) resolve()
      })
  })
  await Promise.race([listening, once(child, 'close')])
  if (port === undefined) throw new Error(`anvil exited before it listened:\n${output}`)
  return Number(port)
}

const GRACE_MS = 2_000

/**
 * Ends a child process, by force when it has not ended within 2 s. May be called more than once.
 * @returns when it is gone
 */
export async function terminate(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill()
  const timer = setTimeout(() => child.kill('SIGKILL'), GRACE_MS)
  await exited
  clearTimeout(timer)
}
