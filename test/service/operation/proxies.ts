import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { generate } from 'selfsigned'
import { eventually } from '../../support/eventually.js'
import { freePort } from '../../support/free-port.js'
import { listen } from '../../support/listen.js'
import { startProcess } from '../../support/process/process.js'

/** A proxy with the file of `deploy/proxies` that docs/deployment.md shows. */
export interface ProxyProgram {
  readonly name: string
  readonly isMissing: boolean
  /** @returns its command line, after it has written its files */
  configure(place: Place): Promise<readonly string[]>
}

interface Place {
  readonly folder: string
  readonly port: number
  readonly serviceAddress: string
}

const HOST = 'quotes.example.org'
const HTTP_2 = Buffer.from('PRI * HTTP/2.0')

function isMissing(program: string, ...args: string[]): boolean {
  return spawnSync(program, args).error !== undefined
}

/** A file of the documents with this machine's addresses in place of those of the example. */
function place(name: string, { folder, serviceAddress }: Place, replaced: Record<string, string>): string {
  let text = readFileSync(`deploy/proxies/${name}`, 'utf8')
  for (const [example, own] of Object.entries({ '127.0.0.1:3000': serviceAddress, ...replaced })) {
    if (!text.includes(example)) throw new Error(`deploy/proxies/${name} has no ${example}`)
    text = text.replaceAll(example, own)
  }
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

/** Writes a new certificate and its key to the file of a proxy's folder. @returns its path */
export async function writeCertificate(folder: string): Promise<string> {
  const { cert, private: secret } = await generate([{ name: 'commonName', value: HOST }])
  const path = join(folder, 'both.pem')
  writeFileSync(path, `${cert}\n${secret}`)
  return path
}

export const PROXIES: readonly ProxyProgram[] = [
  {
    name: 'nginx',
    isMissing: isMissing('nginx', '-v'),
    async configure(at) {
      const both = await writeCertificate(at.folder)
      // The workers, which read the certificate, are of another user.
      chmodSync(at.folder, 0o755)
      const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
      const temporary = paths.map((path) => `${path}_temp_path ${at.folder}/${path};`).join('\n')
      const file = place('nginx.conf', at, {
        'http {': `http {\naccess_log off;\n${temporary}`,
        'listen 443': `listen 127.0.0.1:${at.port}`,
        [`/etc/nginx/${HOST}.pem`]: both,
      })
      return ['nginx', '-e', 'stderr', '-g', `daemon off; pid ${at.folder}/pid;`, '-c', file]
    },
  },
  {
    name: 'Caddy',
    isMissing: isMissing('caddy', 'version'),
    async configure(at) {
      const site = place('Caddyfile', at, { [`${HOST} {`]: `https://127.0.0.1:${at.port} {` })
      const main = join(at.folder, 'main')
      const options = `local_certs\nskip_install_trust\nauto_https disable_redirects\nadmin off\nstorage file_system ${at.folder}`
      writeFileSync(main, `{\n${options}\n}\nimport ${site}\n`)
      return ['caddy', 'run', '--adapter', 'caddyfile', '--config', main]
    },
  },
  {
    name: 'HAProxy',
    isMissing: isMissing('haproxy', '-v'),
    async configure(at) {
      const both = await writeCertificate(at.folder)
      const file = place('haproxy.cfg', at, {
        ':443': `127.0.0.1:${at.port}`,
        [`/etc/ssl/private/${HOST}.pem`]: both,
      })
      return ['haproxy', '-db', '-f', file]
    },
  },
]

/**
 * Starts a proxy in front of a service.
 * @returns the URL of a tunnel without TLS to it, so that any client of the tests can use it
 */
export async function startProxy(program: ProxyProgram, serviceUrl: string) {
  const folder = mkdtempSync(join(tmpdir(), 'proxy-'))
  const port = await freePort()
  const [command = '', ...args] = await program.configure({
    folder,
    port,
    serviceAddress: new URL(serviceUrl).host,
  })
  const started = startProcess(command, args, { HOME: folder })
  const tunnel = await startTunnel(port)
  // Caddy listens before it has its certificate.
  const answers = async () => {
    if (started.child.exitCode !== null) throw new Error(started.output())
    return fetch(`${tunnel.url}/health`).then(
      ({ ok }) => ok,
      () => false,
    )
  }
  await eventually(answers, (isAnswered) => isAnswered)
  return {
    url: tunnel.url,
    /** The proxy's own, with TLS. */
    port,
    folder,
    async close(): Promise<void> {
      tunnel.close()
      started.signal('SIGTERM')
      await started.exited
    },
  }
}

/** Wraps connections in TLS, with the protocol that a client's first bytes have: HTTP/2 or HTTP/1.1. */
async function startTunnel(port: number): Promise<{ url: string; close(): void }> {
  const sockets = new Set<Socket>()
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
  }
  const server = createServer((client) => {
    keep(client)
    client.once('data', (first) => {
      client.pause()
      const isHttp2 = first.subarray(0, HTTP_2.length).equals(HTTP_2)
      const ALPNProtocols = [isHttp2 ? 'h2' : 'http/1.1']
      const proxy = connectTls({ port, host: '127.0.0.1', ALPNProtocols, rejectUnauthorized: false })
      keep(proxy)
      proxy.write(first)
      client.pipe(proxy).pipe(client)
      client.on('close', () => proxy.destroy())
      proxy.on('close', () => client.destroy())
    })
  })
  const { url } = await listen(server)
  return {
    url,
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
