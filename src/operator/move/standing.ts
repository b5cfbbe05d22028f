/** The mark beside a database that moves or has moved. `preparing`: it still counts. `moved`: no process may use it. */
export interface MoveMark {
  readonly id: string
  readonly phase: 'preparing' | 'moved'
  /** The cluster, by the uid of its namespace kube-system. */
  readonly cluster: string
  readonly namespace: string
}

/** The Lease `croft-move`, as replicas read it. */
export interface MoveGate {
  readonly id: string
  readonly phase: 'arriving' | 'here' | 'leaving' | 'away'
}

export type MoveStep =
  | 'note'
  | 'announce'
  | 'close'
  | 'copy-in'
  | 'fence'
  | 'activate'
  | 'open'
  | 'leave'
  | 'copy-out'
  | 'retire'
  | 'unfence'

/** The state of a move. The last three fields are only of this run: after a crash, their steps are repeated. */
export interface Standing {
  readonly mark: MoveMark | undefined
  readonly gate: MoveGate | undefined
  /** The cluster and namespace that were named. */
  readonly place: { readonly cluster: string; readonly namespace: string }
  /** The database has no record: it was never used. */
  readonly empty: boolean
  readonly closed: boolean
  readonly copied: boolean
  readonly opened: boolean
}

export type NextOfMove =
  | { readonly do: MoveStep }
  | { readonly do: 'nothing' }
  | { readonly do: 'refuse'; readonly why: string }

/** The next step of a move, from what any two crashes may have left. Pure. */
export function nextOfMove(wanted: 'in' | 'out', at: Standing): NextOfMove {
  const { mark, gate, place } = at
  if (mark !== undefined && (mark.cluster !== place.cluster || mark.namespace !== place.namespace))
    return refuse(
      `this database ${mark.phase === 'moved' ? 'has moved' : 'is about to move'} into the namespace ${mark.namespace} of another cluster; name the kubeconfig of that one`,
    )
  if (mark !== undefined && gate !== undefined && gate.phase !== 'away' && gate.id !== mark.id)
    return refuse(
      `another database ${gate.phase === 'here' ? 'has moved in' : 'is moving'} there; use an own namespace`,
    )
  if (mark?.phase === 'preparing' && (gate?.phase === 'here' || gate?.phase === 'leaving'))
    return refuse('the operator there is at work although this database still counts; stop the operator first')
  return wanted === 'in' ? nextIn(at) : nextOut(at)
}

function nextIn({ mark, gate, closed, copied, opened }: Standing): NextOfMove {
  if (gate === undefined || gate.phase === 'away') {
    if (mark === undefined) return { do: 'note' }
    // The cluster has all data: it was copied before the database was marked.
    return { do: mark.phase === 'preparing' ? 'announce' : 'activate' }
  }
  if (mark === undefined)
    return refuse(
      gate.phase === 'here'
        ? 'the operator there keeps an estate that came from another database; croft move-out on that computer brings it back'
        : 'another database is moving there; end that move on its own computer',
    )
  if (mark.phase === 'preparing') {
    if (!closed) return { do: 'close' }
    return { do: copied ? 'fence' : 'copy-in' }
  }
  if (gate.phase !== 'here') return { do: 'activate' }
  return { do: opened ? 'nothing' : 'open' }
}

function nextOut({ mark, gate, empty, closed, copied }: Standing): NextOfMove {
  if (gate?.phase === 'away') return { do: mark === undefined ? 'nothing' : 'unfence' }
  if (mark === undefined) {
    if (gate?.phase === 'arriving') return refuse('another database is moving there; end that move on its own computer')
    if (empty) return { do: 'fence' }
    return refuse('this database has records of its own and has not moved there; name an empty one with --state')
  }
  // The cluster is unchanged: the database is still valid.
  if (gate === undefined && mark.phase === 'preparing') return { do: 'unfence' }
  if (gate?.phase === 'arriving') return { do: closed ? 'retire' : 'close' }
  if (gate?.phase !== 'leaving') return { do: 'leave' }
  if (!closed) return { do: 'close' }
  return { do: copied ? 'retire' : 'copy-out' }
}

function refuse(why: string): NextOfMove {
  return { do: 'refuse', why }
}
