import { useEffect, useRef, useState } from 'preact/hooks'
import { api, type LogOfPod, Trouble } from '../api.ts'
import { Card } from './bits.tsx'
import { Icon } from './icon.tsx'

/** Lines that are kept: older ones go, like in a terminal. */
const KEPT = 5_000
const TAILS = [100, 500, 2000] as const

/** The log of one container. Following it, new lines come by themselves and the end stays in view. */
export function PodLog({ question, onClose }: { readonly question: LogOfPod; readonly onClose: () => void }) {
  const [tail, setTail] = useState<number>(500)
  const [follow, setFollow] = useState(false)
  const [lines, setLines] = useState<readonly string[]>([])
  const [said, setSaid] = useState('Loading…')
  const box = useRef<HTMLPreElement>(null)
  const panel = useRef<HTMLDivElement>(null)
  useEffect(() => panel.current?.scrollIntoView({ block: 'nearest' }), [])
  useEffect(() => {
    const stop = new AbortController()
    setLines([])
    setSaid('Loading…')
    const take = (more: readonly string[]) => setLines((old) => [...old, ...more].slice(-KEPT))
    api.log({ ...question, tail, follow }, take, stop.signal).then(
      () => setSaid(follow ? 'The log has ended.' : ''),
      (error: unknown) => {
        if (stop.signal.aborted) return
        setSaid(error instanceof Trouble ? error.message : 'The connection to croft is lost.')
      },
    )
    if (follow) setSaid('')
    return () => stop.abort()
  }, [tail, follow])
  useEffect(() => {
    if (follow) box.current?.scrollTo(0, box.current.scrollHeight)
  }, [lines, follow])
  const { pod, container, previous } = question
  return (
    <div ref={panel}>
      <Card
        class="log"
        title={
          <>
            {previous ? 'Previous log' : 'Log'} of {pod}/{container}
          </>
        }
        aside={
          <>
            <div class="segments" role="group" aria-label="Lines from the end">
              {TAILS.map((count) => (
                <button key={count} type="button" aria-pressed={tail === count} onClick={() => setTail(count)}>
                  {count}
                </button>
              ))}
            </div>
            {!previous && (
              <button type="button" class="button" aria-pressed={follow} onClick={() => setFollow(!follow)}>
                {follow ? 'Stop following' : 'Follow'}
              </button>
            )}
            <button type="button" class="button-quiet" aria-label="Close the log" onClick={onClose}>
              <Icon name="close" size={14} />
            </button>
          </>
        }
      >
        <pre ref={box} class="code log-text" tabIndex={0} role="log" aria-label={`Log of ${pod}/${container}`}>
          {lines.join('\n')}
        </pre>
        {said !== '' && (
          <p class="muted" role="status">
            {said}
          </p>
        )}
        {said === '' && lines.length === 0 && !follow && <p class="muted">The log is empty.</p>}
      </Card>
    </div>
  )
}
