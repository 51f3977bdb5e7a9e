import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, statSync } from 'node:fs'
import { delimiter, dirname, join, resolve } from 'node:path'
import { commandOf, type Instruction, type Stage, tipOf, wordsOf } from '../../support/deploy/dockerfile.js'

/** An image that a walk has made. */
export interface WalkedImage {
  /** The folder of the image's `/`. */
  readonly root: string
  readonly workdir: string
  readonly environment: Readonly<Record<string, string>>
  readonly command: readonly string[]
  readonly healthCommand: readonly string[]
}

interface Layer {
  readonly root: string
  workdir: string
  environment: Record<string, string>
}

/**
 * Runs a Dockerfile's steps in folders of their own on this machine instead of its base images. COPY copies
 * only what .dockerignore admits, RUN runs, and an absolute path of the image is one in its stage's folder.
 * One step is shortened. `npm ci` would install again what the checkout's own `npm ci` has installed with the same lock file. So
 * the checkout's node_modules are linked, and `npm prune` with the step's options removes what `npm ci` with these options does
 * not install. Both leave out a package that the service needs and that is not a production dependency. The SQLite of Node 20 is
 * optional and stays where this machine has that Node, which the image has not.
 * @param folder an empty one
 */
export function walk(stages: readonly Stage[], folder: string): WalkedImage {
  const layers = new Map<string, Layer>()
  for (const [index, stage] of stages.entries()) {
    const layer = begin(stage, join(folder, String(index)), layers)
    for (const instruction of stage.instructions) step(instruction, layer, layers)
    layers.set(stage.name ?? 'final', layer)
  }
  const final = layers.get('final')
  const last = stages.at(-1)
  const [command, health] = ['CMD', 'HEALTHCHECK'].map((name) => last && tipOf(last, name))
  if (!final || !command || !health)
    throw new Error('the Dockerfile has no last stage with CMD and HEALTHCHECK')
  return { ...final, command: commandOf(command), healthCommand: commandOf(health) }
}

function begin({ base }: Stage, root: string, layers: ReadonlyMap<string, Layer>): Layer {
  mkdirSync(root)
  const parent = layers.get(base)
  if (parent === undefined) return { root, workdir: '/', environment: {} }
  link(`${parent.root}/.`, root)
  return { root, workdir: parent.workdir, environment: { ...parent.environment } }
}

function step(instruction: Instruction, layer: Layer, layers: ReadonlyMap<string, Layer>): void {
  const { name, text } = instruction
  switch (name) {
    case 'WORKDIR':
      layer.workdir = resolve(layer.workdir, text)
      mkdirSync(inside(layer, '.'), { recursive: true })
      return
    case 'COPY':
      copy(instruction, layer, layers)
      return
    case 'RUN':
      run(text, layer)
      return
    case 'ENV': {
      const [variable = '', value = ''] = text.split('=')
      layer.environment[variable] = value.startsWith('/') ? inside(layer, value) : value
      return
    }
    case 'USER':
    case 'VOLUME':
    case 'EXPOSE':
    case 'HEALTHCHECK':
    case 'CMD':
      return
    default:
      throw new Error(`this walk does not support ${name}`)
  }
}

function inside({ root, workdir }: Layer, path: string): string {
  return join(root, resolve(workdir, path))
}

function copy(instruction: Instruction, layer: Layer, layers: ReadonlyMap<string, Layer>): void {
  const words = wordsOf(instruction)
  const target = words.at(-1) ?? ''
  const from = layers.get(instruction.flags.from ?? '')
  for (const source of words.slice(0, -1)) {
    if (from === undefined) assertInContext(source)
    const path = from === undefined ? source : inside(from, source)
    const place = inside(layer, target)
    if (statSync(path).isDirectory()) {
      mkdirSync(place, { recursive: true })
      link(`${path}/.`, place)
    } else {
      execFileSync('cp', [path, place])
    }
  }
}

/** .dockerignore excludes everything except the names that it admits again. */
function assertInContext(source: string): void {
  const lines = readFileSync('.dockerignore', 'utf8').split('\n')
  if (!lines.includes(`!${source}`)) throw new Error(`.dockerignore excludes ${source}`)
}

function run(command: string, layer: Layer): void {
  // The image's packages of Debian are not for this machine.
  if (command.startsWith('apt-get')) return
  const here = inside(layer, '.')
  if (/\s\//.test(command))
    throw new Error(`a walk cannot run ${command}: its absolute path is on this machine`)
  if (command.startsWith('npm ci')) linkPackages(here)
  const { PATH = '', HOME = '' } = process.env
  const env = { ...layer.environment, PATH: `${dirname(process.execPath)}${delimiter}${PATH}`, HOME }
  const walked = command
    .replace(/^npm ci/, 'npm prune --offline --no-audit --no-fund')
    .replace(Number(process.versions.napi) < 10 ? ' --omit=optional' : '', '')
  execFileSync('sh', ['-c', walked], { cwd: here, env, stdio: 'pipe' })
}

function linkPackages(here: string): void {
  mkdirSync(join(here, 'node_modules'))
  const packages = execFileSync('sh', ['-c', 'ls -d node_modules/[!.]* node_modules/.bin']).toString().trim()
  link(...packages.split('\n'), join(here, 'node_modules'))
  // npm writes this file again, and would write through a link.
  execFileSync('cp', ['node_modules/.package-lock.json', join(here, 'node_modules')])
}

/** Copies as links, which takes no time, or as files where the folder is on another file system. */
function link(...paths: string[]): void {
  try {
    execFileSync('cp', ['-al', ...paths], { stdio: 'pipe' })
  } catch {
    execFileSync('cp', ['-a', ...paths], { stdio: 'pipe' })
  }
}
