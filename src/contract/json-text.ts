/** Valid JSON that responses copy. It is immutable, so any number of requests can share it. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}
