import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { driftsOf } from '../../controller/view/drifts.ts'
import { createReading } from '../../controller/view/reading.ts'
import { viewOf } from '../../controller/view/view.ts'
import type { Engine, PassReport } from '../../engine/engine.ts'
import type { Clock } from '../../lib/clock.ts'
import { atOnce } from '../../lib/in-turns.ts'
import type { Estate } from '../../model/estate.ts'
import type { CommitView, EstateView } from '../../model/estate-view.ts'
import { maskManifest } from '../../model/masked/masked-manifest.ts'
import type { CroftEvent } from '../../model/record.ts'
import type { Controller } from '../../server/port.ts'
import type { Store } from '../../store/port.ts'

/** The page of the tour: what `croft run` serves, fed by the passes that the scenes make. */
export interface TourPage {
  readonly controller: Controller
  /** The engine, with its actions shown on the page. */
  readonly engine: Engine
  /** Shows that croft follows this revision from now on. */
  inForce(commit: string, subject: string): void
}

export function createTourPage(
  engine: Engine,
  store: Store,
  clock: Clock,
  repository: { readonly directory: string; readonly remote: string },
): TourPage {
  const commits: CommitView[] = []
  const listeners = new Set<(view: EstateView, events: readonly CroftEvent[]) => void>()
  let lastSeq = 0
  let version = 0
  let known: { readonly estate: Estate; readonly report: PassReport } | undefined
  const look = (): EstateView => {
    const [newest] = commits
    return {
      ...atOnce(
        viewOf({
          sources: [
            {
              name: 'infra',
              remote: repository.remote,
              ref: 'main',
              lookedMs: clock.now(),
              ...(newest === undefined
                ? {}
                : {
                    commit: newest.commit,
                    subject: newest.subject,
                    author: newest.author,
                    committedMs: newest.committedMs,
                  }),
            },
          ],
          drifts: known === undefined ? [] : driftsOf(known.report),
          checks: [],
          commits,
          nowMs: clock.now(),
          ...known,
        }),
      ),
      version,
      atMs: clock.now(),
    }
  }
  let view = look()

  // Publish one at a time: parallel reads would show the same events twice.
  let publishing: Promise<void> = Promise.resolve()
  const publish = (estate: Estate, report: PassReport) => {
    known = { estate, report }
    publishing = publishing.then(async () => {
      const fresh = await store.events({ afterSeq: lastSeq })
      lastSeq = fresh.at(-1)?.seq ?? lastSeq
      version++
      view = look()
      for (const listener of listeners) listener(view, fresh)
    })
    return publishing
  }

  const reading = createReading(store, clock, () => ({
    revision: undefined,
    estate: known?.estate,
    report: known?.report,
  }))
  return {
    inForce(commit, subject) {
      commits.unshift({
        source: 'infra',
        commit,
        subject,
        author: 'croft',
        committedMs: clock.now(),
        seenMs: clock.now(),
      })
    },
    engine: {
      ...engine,
      async pass(estate, signal, options) {
        const report = await engine.pass(estate, signal, options)
        await publish(estate, report)
        return report
      },
      async settle(estate, options) {
        const settlement = await engine.settle(estate, {
          ...options,
          onPass(report) {
            options.onPass?.(report)
            void publish(estate, report)
          },
        })
        await publishing
        return settlement
      },
    },
    controller: {
      view: () => view,
      subscribe(listener) {
        listeners.add(listener)
        return () => void listeners.delete(listener)
      },
      ...reading,
      async manifest(key) {
        const file = known?.estate.resources.find((resource) => resource.key === key)?.origin.file
        return file === undefined
          ? undefined
          : maskManifest(readFileSync(path.join(repository.directory, file), 'utf8'))
      },
      // The tour has no users, and only who signs in may see a diff.
      commitDiff: async () => undefined,
      async ask() {
        return { ok: false, reason: 'refused', message: 'the tour only follows Git: commit and push instead' }
      },
      poke: () => {},
      ready: () => known !== undefined,
    },
  }
}

/** Opens the page in a browser on a desktop; does nothing elsewhere. */
export function openInBrowser(url: string, env: Readonly<Record<string, string | undefined>>): void {
  if ((env.DISPLAY ?? '') === '' && (env.WAYLAND_DISPLAY ?? '') === '') return
  const opener = spawn('xdg-open', [url], { stdio: 'ignore', detached: true })
  opener.on('error', () => {})
  opener.unref()
}
