import { type FileToUpload, ObservationFailed, type Session } from '../../../drivers/port.ts'
import { BuildFailed, type BuiltImage } from '../../../images/build.ts'
import { chunksOf } from '../../../images/distribute.ts'
import type { Clock } from '../../../lib/clock.ts'
import { LIMITS } from '../../../lib/limits.ts'
import type { Shell } from '../../../lib/shell.ts'
import { type FileSpec, volumeId } from '../../../model/file.ts'

/** A host copies from its own disk to its own storage: an hour is more than a network storage needs. */
const COPY_MS = 3_600_000

/**
 * Uploads a built image to a storage over the API, with the token alone. The host compares the checksum after the
 * upload but does not store it, so each upload is recorded beside the image.
 */
export async function uploadImage(
  { file, list }: { readonly file: FileSpec; readonly list: string },
  built: Pick<BuiltImage, 'path' | 'sha256' | 'bytes'>,
  from: Shell,
  session: Pick<Session, 'list' | 'uploads' | 'taskOutcome'>,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<'there' | 'uploaded'> {
  const what = `${volumeId(file)} on ${file.host}`
  const notes = `${built.path}.uploaded`
  const note = `${file.host} ${volumeId(file)} sha256:${built.sha256}`
  const there = (await listed(session, list, signal)).find(({ externalId }) => externalId === volumeId(file))
  if (there !== undefined) {
    const same = there.close?.config.size === built.bytes
    if (same && (await from.run(['grep', '-qxF', '--', note, notes], { signal })).code === 0) return 'there'
    if (file.overwrite !== true)
      throw new BuildFailed(
        `${what} is there and croft does not know that it is this image; write replace: true to replace it`,
      )
  }
  if (session.uploads === undefined) throw new BuildFailed(`no file can be uploaded to ${file.host}`)
  const { host, storage, content, fileName } = file
  const upload: FileToUpload = {
    host,
    storage,
    content,
    fileName,
    sha256: built.sha256,
    length: built.bytes,
    chunks: chunksOf({ from, path: built.path, bytes: built.bytes, signal }),
  }
  const outcome = await session.uploads.put(upload, signal)
  if (outcome.result === 'refused') throw new BuildFailed(outcome.refusal.message)
  if (outcome.result === 'not-sent' || outcome.result === 'unclear') throw new BuildFailed(outcome.message)
  if (outcome.result === 'started') await ended(session, outcome.taskId, what, clock, signal)
  await from.run(['sh', '-c', 'printf "%s\\n" "$1" >> "$2"', 'croft', note, notes], { signal })
  return 'uploaded'
}

async function listed(session: Pick<Session, 'list'>, list: string, signal: AbortSignal) {
  try {
    return await session.list(list, signal)
  } catch (error) {
    if (error instanceof ObservationFailed) throw new BuildFailed(error.refusal.message)
    throw error
  }
}

async function ended(
  session: Pick<Session, 'taskOutcome'>,
  taskId: string,
  what: string,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const deadlineMs = clock.monotonicMs() + COPY_MS
  while (clock.monotonicMs() < deadlineMs) {
    const task = await session.taskOutcome(taskId, signal)
    if (task?.state === 'succeeded') return
    if (task?.state === 'failed')
      throw new BuildFailed(`${what} was not put in place: ${task.message ?? 'the task failed'}`)
    await clock.sleep(LIMITS.taskPollMs, signal)
  }
  throw new BuildFailed(`${what} was uploaded, and its task has not ended; look at it on the host`)
}
