import assert from 'node:assert/strict'
import { sleep } from './hosts.ts'
import { PATIENCE, type Stage } from './stage.ts'

/** The voters of etcd, as the Nodes tell: as many as are declared, after K3s has had time to write it on them. */
export async function servers(stage: Stage): Promise<string> {
  const path = '{range .items[*]}{.metadata.name}={.status.conditions[?(@.type=="EtcdIsVoter")].status} {end}'
  const wanted = stage.declared.servers.length
  let voters: readonly string[] = []
  for (let waited = 0; waited < 30 * PATIENCE; waited++) {
    const { out } = await stage.kubectl('get', 'nodes', '-l', 'node-role.kubernetes.io/etcd', '-o', `jsonpath=${path}`)
    voters = out.split(' ').filter((one) => one.endsWith('=True'))
    if (voters.length === wanted) return `${wanted} voters`
    await sleep(2000)
  }
  throw new Error(`${voters.length} of ${wanted} servers vote: ${voters.join(' ')}`)
}

/** croft itself has nothing left to do, and says that all is well. */
export async function settled(stage: Stage): Promise<string> {
  const plan = await stage.mustCroft(['plan', '.'])
  let health = await stage.croft(['health', '.'])
  for (let waited = 0; health.code !== 0 && waited < 12 * PATIENCE; waited++) {
    await sleep(5000)
    health = await stage.croft(['health', '.'])
  }
  assert.equal(health.code, 0, `croft health ended with ${health.code}:\n${health.out}`)
  return (plan.out.trim().split('\n').at(-1) ?? '').slice(0, 100)
}

/** A ConfigMap and a Secret are written and read back. */
export async function pingPong(stage: Stage, name: string): Promise<string> {
  await write(stage, name)
  assert.ok(await has(stage, name), `${name} cannot be read back`)
  return `ConfigMap and Secret ${name} read back`
}

export async function write(stage: Stage, name: string): Promise<void> {
  for (const words of [
    ['create', 'configmap', name, `--from-literal=of=${name}`],
    ['create', 'secret', 'generic', name, `--from-literal=of=${name}`],
  ]) {
    const ran = await stage.kubectl(...words)
    if (ran.code !== 0 && !ran.out.includes('AlreadyExists') && !ran.out.includes('already exists'))
      throw new Error(`kubectl ${words.join(' ')}: ${ran.out}`)
  }
}

export async function has(stage: Stage, name: string): Promise<boolean> {
  const map = await stage.kubectl('get', 'configmap', name, '-o', 'jsonpath={.data.of}')
  const secret = await stage.kubectl('get', 'secret', name, '-o', 'jsonpath={.data.of}')
  const found = [map.out === name, secret.out === Buffer.from(name).toString('base64')]
  if (found[0] !== found[1]) throw new Error(`of ${name} one of two is there: ${map.out} / ${secret.out}`)
  if (!found[0] && !/not found/i.test(map.out)) throw new Error(`kubectl get configmap ${name}: ${map.out}`)
  return found[0] === true
}

/** Waits until exactly these are Ready. */
export async function untilReady(stage: Stage, names: readonly string[], seconds = 180): Promise<void> {
  const startedMs = Date.now()
  for (;;) {
    const ready = await stage.ready().catch(() => [])
    if ([...ready].sort().join() === [...names].sort().join()) return
    if (Date.now() - startedMs > seconds * PATIENCE * 1000)
      throw new Error(`Ready after ${seconds * PATIENCE} s: ${ready.join(', ') || 'none'}`)
    await sleep(2000)
  }
}

/** Takes a snapshot and answers its name. */
export async function snapshot(stage: Stage): Promise<string> {
  await stage.mustCroft(['cluster', 'backup', 'lab', '--now', '--yes'], 120)
  const { out } = await stage.mustCroft(['cluster', 'backup', 'lab', '-o', 'json'], 60)
  const { backups } = JSON.parse(out.slice(out.indexOf('{'))) as {
    backups: { name: string; atMs: number; usable: string }[]
  }
  const [newest] = [...backups].sort((a, b) => b.atMs - a.atMs)
  assert.ok(newest !== undefined, 'no backup is listed')
  return newest.name
}
