import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ENDED } from '../../packages/cli/src/forward/webhook.js'
import {
  CHAIN_DEFAULTS,
  CHAIN_VARIABLES,
  DEFAULTS,
  OPTIONAL_CHAIN_VARIABLES,
  OPTIONAL_VARIABLES,
} from '../../src/config/variables.js'
import { commandOf, readDockerfile, type Stage, tipOf, wordsOf } from '../support/deploy/dockerfile.js'
import { type ComposeService, readCompose } from './compose.js'

/** How long the service lets open requests finish, in seconds. */
const DRAIN_SECONDS = 10
/** The name that the image gets when it is built. */
const OWN_IMAGE = 'quote-aggregator'
const UNIT = 'deploy/quote-aggregator.service'
const FORWARD_UNIT = 'deploy/quote-aggregator-forward.service'
const noSystemd = spawnSync('systemd-analyze', ['--version']).error !== undefined

const stages = readDockerfile()
const final = stages.at(-1) as Stage
const textOf = (name: string) => tipOf(final, name)?.text

describe('the Dockerfile', () => {
  test('names one exact version of Node 24 for every image', () => {
    const names = stages.map(({ name }) => name)
    const images = stages.map(({ base }) => base).filter((base) => !names.includes(base))
    for (const image of images) expect(image).toMatch(/^node:24\.\d+\.\d+-bookworm(-slim)?$/)
    expect(new Set(images.map((image) => image.replace('-slim', ''))).size).toBe(1)
  })

  test('ends in a stage without compilers, with an unprivileged user and a separate data folder', () => {
    expect(final.base).toMatch(/-slim$/)
    expect(final.instructions.filter(({ name }) => name === 'RUN')).toEqual([])
    expect(textOf('USER')).toBe('node')
    expect(textOf('VOLUME')).toBe('/data')
    expect(textOf('EXPOSE')).toBe(DEFAULTS.PORT)
    const variables = final.instructions.filter(({ name }) => name === 'ENV').map(({ text }) => text)
    expect(variables).toEqual(['NODE_ENV=production', 'DB_PATH=/data/aggregator.db'])
    const data = final.instructions.find((copy) => copy.name === 'COPY' && wordsOf(copy).at(-1) === '/data')
    expect(data?.flags.chown).toBe('node:node')
  })

  test('starts the service as process 1, with the command of npm start', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
    const command = tipOf(final, 'CMD')
    expect(command && commandOf(command).join(' ')).toBe(scripts.start.replace('exec ', ''))
  })
})

describe.each([
  ['compose.yaml', readCompose('compose.yaml')],
  ['compose.replicas.yaml', readCompose('compose.yaml', 'compose.replicas.yaml')],
])('%s', (_file, compose) => {
  const services = Object.entries(compose.services)

  test.each(services)(
    'restricts the service %s, checks its health and publishes its ports on this machine only',
    (_name, service) => {
      expect(service).toMatchObject({
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
        restart: 'unless-stopped',
      })
      expect(['root', '0', undefined]).not.toContain(service.user)
      if (service.image === OWN_IMAGE) {
        expect(tipOf(final, 'HEALTHCHECK')).toBeDefined()
      } else {
        expect(service.image).toMatch(/^([a-z]+\/)?[a-z]+:v?\d+(\.\d+){1,2}$/)
        expect(service.healthcheck?.test[0]).toBe('CMD')
      }
      for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/)
    },
  )

  test.each(services)(
    'mounts for %s only files of deploy that exist, or named volumes',
    (_name, { volumes = [] }) => {
      for (const volume of volumes) {
        const [source = ''] = volume.split(':')
        if (source.startsWith('./')) expect(() => readFileSync(join('deploy', source))).not.toThrow(/ENOENT/)
        else expect(Object.keys(compose.volumes)).toContain(source)
      }
    },
  )

  test('gives the service time to drain', () => {
    const own = services.filter(([, { image }]) => image === OWN_IMAGE)
    expect(own.length).toBeGreaterThan(0)
    for (const [, { stop_grace_period = '' }] of own)
      expect(Number.parseInt(stop_grace_period, 10)).toBeGreaterThan(DRAIN_SECONDS)
  })
})

describe('compose.replicas.yaml', () => {
  const { services } = readCompose('compose.yaml', 'compose.replicas.yaml')
  const { aggregator, postgres, ...others } = services

  test('has three replicas that differ only in their ports and their own URLs', () => {
    const { build: _built, volumes: _unused, ports: _own, ...shared } = aggregator ?? ({} as ComposeService)
    for (const name of ['aggregator-2', 'aggregator-3']) {
      const { ports: _other, ...replica } = others[name] ?? ({} as ComposeService)
      const environment = { ...shared.environment, REPLICA_URL: `http://${name}:3100` }
      expect(replica).toEqual({ ...shared, environment, pull_policy: 'never' })
    }
  })

  test('starts the replicas on its PostgreSQL when that answers', () => {
    const password = 'letters0and1digits'
    const filled = (text = '') => text.replace(/\$\{POSTGRES_PASSWORD:\?[^}]*\}/, password)
    const url = new URL(filled(aggregator?.environment?.DATABASE_URL))
    const { POSTGRES_USER, POSTGRES_PASSWORD } = postgres?.environment ?? {}
    expect([url.protocol, url.hostname, url.pathname]).toEqual(['postgres:', 'postgres', `/${POSTGRES_USER}`])
    expect([url.username, url.password]).toEqual([POSTGRES_USER, filled(POSTGRES_PASSWORD)])
    expect(url.password).toBe(password)
    expect(aggregator?.depends_on).toEqual({ postgres: { condition: 'service_healthy' } })
  })

  test('publishes the replicas at the ports that docs/deployment.md balances and Prometheus scrapes', () => {
    const document = readFileSync('docs/deployment.md', 'utf8')
    const prometheus = readFileSync('deploy/prometheus/prometheus.yml', 'utf8')
    const replicas = Object.entries(services).filter(([, { image }]) => image === OWN_IMAGE)
    const addresses = replicas.map(([, { ports = [] }]) => ports[0]?.split(':').slice(0, 2).join(':'))
    expect(addresses.filter((address) => !document.includes(`  server ${address} max_fails=0;\n`))).toEqual(
      [],
    )
    const proxied = [addresses, ['@grpc', ...addresses.map((address) => `h2c://${address}`)]]
    expect(proxied.filter((words) => !document.includes(`reverse_proxy ${words.join(' ')}\n`))).toEqual([])
    expect(replicas.filter(([name]) => !prometheus.includes(`'${name}:3000'`))).toEqual([])
  })
})

test('.env.example has only variables of the service or of compose.replicas.yaml', () => {
  const example = readFileSync('deploy/.env.example', 'utf8')
  const names = [...example.matchAll(/^#?([A-Z_]+?)(_\d+)?=/gm)].map(([, name = '']) => name)
  const known = new Set<string>([
    ...Object.keys(DEFAULTS),
    ...OPTIONAL_VARIABLES,
    ...CHAIN_VARIABLES,
    ...OPTIONAL_CHAIN_VARIABLES,
    ...Object.keys(CHAIN_DEFAULTS),
    'POSTGRES_PASSWORD',
  ])
  expect(names).toEqual(expect.arrayContaining(['RPC_URL', 'DATABASE_URL', 'POSTGRES_PASSWORD']))
  expect(names.filter((name) => !known.has(name))).toEqual([])
})

describe('the systemd unit', () => {
  const unit = readFileSync(UNIT, 'utf8')
  const settings = new Map(
    [...unit.matchAll(/^([A-Za-z]+)=(.*)$/gm)].map(([, key = '', value = '']) => [key, value]),
  )

  test('restricts the service, and gives it time to drain', () => {
    expect(Object.fromEntries(settings)).toMatchObject({
      DynamicUser: 'yes',
      StateDirectory: 'quote-aggregator',
      ProtectSystem: 'strict',
      NoNewPrivileges: 'yes',
      CapabilityBoundingSet: '',
      Restart: 'on-failure',
      KillSignal: 'SIGTERM',
    })
    expect(Number.parseInt(settings.get('TimeoutStopSec') ?? '', 10)).toBeGreaterThan(DRAIN_SECONDS)
    expect(settings.has('MemoryDenyWriteExecute')).toBe(false)
  })

  test('starts the service with the command of npm start', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
    const command = settings.get('ExecStart')?.replace('/usr/bin/', '').replace('/opt/quote-aggregator/', '')
    expect(command).toBe(scripts.start.replace('exec ', ''))
  })

  test.skipIf(noSystemd).each([UNIT, FORWARD_UNIT])(
    '%s passes systemd-analyze (skipped where it is not installed)',
    (path) => {
      const folder = mkdtempSync(join(tmpdir(), 'unit-'))
      onTestFinished(() => rmSync(folder, { recursive: true }))
      const file = join(folder, basename(path))
      writeFileSync(file, readFileSync(path, 'utf8').replace('/usr/bin/node', process.execPath))
      const analyze = (...args: string[]) => spawnSync('systemd-analyze', args, { encoding: 'utf8' })
      expect(analyze('verify', file)).toMatchObject({ status: 0, stdout: '', stderr: '' })
      // Exposure from 0 to 100. A unit without restrictions has 96.
      expect(analyze('security', '--offline=true', '--threshold=20', file)).toMatchObject({ status: 0 })
    },
  )

  test('of forward is not started again after the exit codes that no other start can help', () => {
    expect(readFileSync(FORWARD_UNIT, 'utf8')).toContain(
      `\nRestartPreventExitStatus=${ENDED.receiverGone} ${ENDED.placeLost}\n`,
    )
  })
})
