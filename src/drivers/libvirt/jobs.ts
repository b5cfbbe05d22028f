import { cleanText } from '../../lib/clean-text.ts'
import type { RemoteTask } from '../../model/resource.ts'
import { VIRSH } from './names.ts'
import { powerOf } from './observe.ts'
import type { Virsh } from './virsh.ts'

/*
 * Long work on a host: copying and downloading images. A job is started and runs detached; its directory shows its
 * progress. The scripts are constants, and everything that varies comes as words.
 */

/** Starts a job: `setsid --fork sh -c BEGIN croft-job ID BODY croft WORDS…`. */
const BEGIN = `umask 077
d="\${HOME:-/root}/.cache/croft/jobs"
mkdir -p "$d" && find "$d" -mindepth 1 -maxdepth 1 -mtime +7 -exec rm -rf {} +
mkdir -p "$d/$1" && cd "$d/$1" || exit 1
shift
exec >log 2>&1 </dev/null
echo $$ >pid
if sh -c "$@"; then echo done >state; else echo failed >state; fi`

/** Prints `done`, `failed`, `running` or `lost`, and the end of the job's output. */
const LOOK = `cd "\${HOME:-/root}/.cache/croft/jobs/$1" 2>/dev/null || exit 3
if [ -f state ]; then cat state; elif kill -0 "$(cat pid)" 2>/dev/null; then echo running; else echo lost; fi
tail -c 1000 log`

/** Copies a volume from any pool. Words: copy URI POOL XML INPUTPOOL INPUTVOLUME. */
const COPY = `set -eu
export LC_ALL=C
printf %s "$4" >volume.xml
virsh -c "$2" vol-create-from --pool "$3" --file volume.xml --vol "$6" --inputpool "$5"`

/**
 * Downloads a file into a pool; it gets its name only once it is whole and verified. An existing file of that name,
 * which libvirt did not list, keeps its content, since it may back disks. Words: fetch URI POOL DIRECTORY NAME URL
 * ALGORITHM SUM COMPRESSION.
 */
const FETCH = `set -eu
export LC_ALL=C
part="$4/.croft-$5.part"
if [ -s "$4/$5" ]; then
  if [ -n "$8" ] && [ -z "$9" ]; then echo "$8  $4/$5" | "\${7}sum" --check --status - || { echo "croft: ChecksumMismatch"; exit 1; }; fi
  exec virsh -c "$2" pool-refresh --pool "$3"
fi
trap 'rm -f "$part" "$part.out"' EXIT
curl --fail --silent --show-error --location --proto =http,https --max-redirs 5 --connect-timeout 30 --output "$part" -- "$6"
if [ -n "$8" ]; then echo "$8  $part" | "\${7}sum" --check --status - || { echo "croft: ChecksumMismatch"; exit 1; }; fi
case "$9" in
  gz) gzip -dc "$part" >"$part.out" ;;
  bz2) bzip2 -dc "$part" >"$part.out" ;;
  zst) zstd -dcq "$part" >"$part.out" ;;
  lzo) lzop -dc "$part" >"$part.out" ;;
  *) mv "$part" "$part.out" ;;
esac
chmod 0644 "$part.out"
sync -f "$part.out" || true
mv "$part.out" "$4/$5"
virsh -c "$2" pool-refresh --pool "$3"`

/** Verifies a file's checksum. Words: verify URI POOL DIRECTORY NAME ALGORITHM SUM. */
const VERIFY = `set -eu
echo "$7  $4/$5" | "\${6}sum" --check --status - || { echo "croft: ChecksumMismatch"; exit 1; }`

const BODIES = { copy: COPY, fetch: FETCH, verify: VERIFY } as const

export function beginJob(id: string, kind: keyof typeof BODIES, words: readonly string[]): readonly string[] {
  return ['setsid', '--fork', 'sh', '-c', BEGIN, 'croft-job', id, BODIES[kind], 'croft', kind, ...words]
}

function lookAtJob(id: string): readonly string[] {
  return ['sh', '-c', LOOK, 'croft-look', id]
}

/** The id of a job has its start time: a job without a directory may just be young. */
export function jobId(kind: string, volume: string, atMs: number): string {
  return `${kind}-${volume.replace(/[^A-Za-z0-9._-]/g, '_')}-${Math.floor(atMs)}`
}

function begunAt(id: string): number {
  return Number(/-(\d+)$/.exec(id)?.[1] ?? 0)
}

/** A job without a directory may just be young. */
const YOUNG_MS = 10_000

/** Returns the progress of a task of this driver: a job on the host, or a guest's shutdown. */
export async function taskOutcome(
  virsh: Virsh,
  taskId: string,
  host: string,
  waitedMs: number,
  signal: AbortSignal,
): Promise<RemoteTask | undefined> {
  const [kind, id = '', begun, seconds, force] = taskId.split('|')
  const task = { id: taskId, host, verb: kind ?? '', subject: id, user: '', startedMs: Number(begun ?? begunAt(id)) }
  if (kind === 'job') return jobOutcome(virsh, { ...task, startedMs: begunAt(id) }, waitedMs, signal)
  if (kind !== 'shutdown') return undefined
  const state = await virsh.read(['domstate', id], `see whether domain ${id} is off`, signal)
  const power = state === undefined ? 'stopped' : powerOf(state)
  if (power === 'stopped') return { ...task, state: 'succeeded' }
  if (waitedMs < Number(seconds) * 1000) return { ...task, state: 'running' }
  if (force === 'force') {
    await virsh.write(['destroy', id], { doing: `switch off domain ${id}`, says: /destroyed/ }, signal)
    return { ...task, state: 'running' }
  }
  const message = `domain ${id} on ${host} did not shut down within ${seconds} s; see its console: ${VIRSH} console ${id}`
  return { ...task, state: 'failed', message, refusal: { reason: 'ShutdownTimeout', meaning: 'backoff', message } }
}

async function jobOutcome(
  virsh: Virsh,
  task: Omit<RemoteTask, 'state'>,
  waitedMs: number,
  signal: AbortSignal,
): Promise<RemoteTask | undefined> {
  const ran = await virsh.run(lookAtJob(task.subject), `look at job ${task.subject}`, signal)
  if (ran.code !== 0) return waitedMs < YOUNG_MS ? { ...task, state: 'running' } : undefined
  const [state = '', ...log] = ran.stdout.split('\n')
  if (state === 'running') return { ...task, state: 'running' }
  if (state === 'done') return { ...task, state: 'succeeded' }
  const said = cleanText(log.join(' '))
  const mismatch = said.includes('croft: ChecksumMismatch')
  const message = mismatch
    ? `checksum mismatch: ${fileIn(task.subject)} on ${task.host} is not what its checksum says`
    : `${task.subject} failed: ${said === '' ? 'the host was switched off, or somebody ended it' : said}`
  const reason = mismatch ? 'ChecksumMismatch' : 'JobFailed'
  return { ...task, state: 'failed', message, refusal: { reason, meaning: mismatch ? 'stalled' : 'backoff', message } }
}

/** Returns the file's plain name: a job's id also has the verb and the start time. */
function fileIn(job: string): string {
  return /^[a-z]+-(.*)-\d+$/.exec(job)?.[1] ?? job
}
