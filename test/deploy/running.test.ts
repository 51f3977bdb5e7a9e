import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import {
  CHAIN_DEFAULTS,
  CHAIN_VARIABLES,
  DEFAULTS,
  OPTIONAL_CHAIN_VARIABLES,
  OPTIONAL_VARIABLES,
} from '../../src/variables.js'
import { commandOf, lastOf, readDockerfile, type Stage, wordsOf } from './dockerfile.js'

/** How long the service lets requests under way finish, in seconds. */
const DRAIN_SECONDS = 10
const UNIT = 'deploy/quote-aggregator.service'
const noSystemd = spawnSync('systemd-analyze', ['--version']).error !== undefined

const stages = readDockerfile()
const final = stages.at(-1) as Stage
const textOf = (name: string) => lastOf(final, name)?.text

describe('the Dockerfile', () => {
  test('names the version of every image', () => {
    const names = stages.map(({ name }) => name)
    const images = stages.map(({ base }) => base).filter((base) => !names.includes(base))
    for (const image of images) expect(image).toMatch(/^node:20-bookworm(-slim)?$/)
  })

  test('ends in a stage without compilers, as a user without privileges, with its data apart', () => {
    expect(final.base).toBe('node:20-bookworm-slim')
    expect(final.instructions.filter(({ name }) => name === 'RUN')).toEqual([])
    expect(textOf('USER')).toBe('node')
    expect(textOf('VOLUME')).toBe('/data')
    expect(textOf('EXPOSE')).toBe(DEFAULTS.PORT)
    const variables = final.instructions.filter(({ name }) => name === 'ENV').map(({ text }) => text)
    expect(variables).toEqual(['NODE_ENV=production', 'DB_PATH=/data/aggregator.db'])
    const data = final.instructions.find((copy) => copy.name === 'COPY' && wordsOf(copy).at(-1) === '/data')
    expect(data?.flags.chown).toBe('node:node')
  })

  test('starts the service as npm start does, as process 1', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
    const command = lastOf(final, 'CMD')
    expect(command && commandOf(command).join(' ')).toBe(scripts.start)
  })
})

describe('compose.yaml', () => {
  interface Service {
    image: string
    build?: { context: string }
    user: string
    read_only: boolean
    cap_drop: string[]
    security_opt: string[]
    ports: string[]
    volumes: string[]
    healthcheck?: { test: string[] }
    stop_grace_period?: string
  }
  const compose = parse(readFileSync('deploy/compose.yaml', 'utf8'), { merge: true })
  const services = Object.entries<Service>(compose.services)

  test.each(services)('%s is confined, healthy or not, and on this machine alone', (_name, service) => {
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      restart: 'unless-stopped',
    })
    expect(['root', '0', undefined]).not.toContain(service.user)
    if (service.build === undefined) {
      expect(service.image).toMatch(/^[a-z]+\/[a-z]+:v?\d+\.\d+\.\d+$/)
      expect(service.healthcheck?.test[0]).toBe('CMD')
    } else {
      expect(lastOf(final, 'HEALTHCHECK')).toBeDefined()
    }
    for (const port of service.ports) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/)
  })

  test.each(services)('%s mounts what is there: files of deploy, or named volumes', (_name, { volumes }) => {
    for (const volume of volumes) {
      const [source = ''] = volume.split(':')
      if (source.startsWith('./')) expect(() => readFileSync(join('deploy', source))).not.toThrow(/ENOENT/)
      else expect(Object.keys(compose.volumes)).toContain(source)
    }
  })

  test('keeps the database in a volume, and lets the service drain', () => {
    const { aggregator } = compose.services
    expect(aggregator.volumes).toEqual([`database:${textOf('VOLUME')}`])
    expect(Number.parseInt(aggregator.stop_grace_period, 10)).toBeGreaterThan(DRAIN_SECONDS)
  })

  test('is given only variables that the service knows', () => {
    const example = readFileSync('deploy/.env.example', 'utf8')
    const names = [...example.matchAll(/^#?([A-Z_]+?)(_\d+)?=/gm)].map(([, name = '']) => name)
    const known = new Set<string>([
      ...Object.keys(DEFAULTS),
      ...OPTIONAL_VARIABLES,
      ...CHAIN_VARIABLES,
      ...OPTIONAL_CHAIN_VARIABLES,
      ...Object.keys(CHAIN_DEFAULTS),
    ])
    expect(names).toContain('RPC_URL')
    expect(names.filter((name) => !known.has(name))).toEqual([])
  })
})

describe('the systemd unit', () => {
  const unit = readFileSync(UNIT, 'utf8')
  const settings = new Map(
    [...unit.matchAll(/^([A-Za-z]+)=(.*)$/gm)].map(([, key = '', value = '']) => [key, value]),
  )

  test('confines the service, and lets it drain', () => {
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

  test('starts the service as npm start does', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
    const command = settings.get('ExecStart')?.replace('/usr/bin/', '').replace('/opt/quote-aggregator/', '')
    expect(command).toBe(scripts.start)
  })

  test.skipIf(noSystemd)('passes systemd-analyze (skipped where it is not installed)', () => {
    const folder = mkdtempSync(join(tmpdir(), 'unit-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'quote-aggregator.service')
    writeFileSync(file, unit.replace('/usr/bin/node', process.execPath))
    const analyze = (...args: string[]) => spawnSync('systemd-analyze', args, { encoding: 'utf8' })
    expect(analyze('verify', file)).toMatchObject({ status: 0, stdout: '', stderr: '' })
    // Exposure of 0 to 100; a unit that confines nothing has 96.
    expect(analyze('security', '--offline=true', '--threshold=20', file)).toMatchObject({ status: 0 })
  })
})
