// The confirmation of the user's identity, which some requests need. The shell shows its dialog.
type Answer = (confirmed: boolean) => void;

let answer = $state.raw<Answer | undefined>();
let asked: Promise<boolean> | undefined;

export const confirmation = {
  /** answer ends the open question; it is undefined if there is none. */
  get answer(): Answer | undefined {
    return answer;
  },
};

/**
 * confirmed asks the user to confirm the identity, and reports whether that succeeded. Simultaneous
 * requests share a question.
 */
export function confirmed(): Promise<boolean> {
  asked ??= new Promise<boolean>((resolve) => {
    answer = (is) => {
      answer = asked = undefined;
      resolve(is);
    };
  });
  return asked;
}
