"""The parser of IR text, which reads what `printing` writes.

xDSL reads a literal with an escaped byte above 127 as bytes, never as text, while its printer
escapes each such byte of a text: `"é"` comes back as an attribute of another kind, and as the name
in a location not at all.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.parser import Parser
from xdsl.parser.generic_parser import ParserState
from xdsl.utils.lexer import Input, Position, Token
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRToken, MLIRTokenKind


class _Lexer(MLIRLexer):
    """xDSL's lexer, but a literal is text wherever its bytes are UTF-8."""

    def _lex_string_literal(self, start_pos: Position) -> MLIRToken:
        token = super()._lex_string_literal(start_pos)
        if token.kind is MLIRTokenKind.BYTES_LIT:
            try:
                MLIRTokenKind.STRING_LIT.get_string_literal_value(token.span)
            except UnicodeDecodeError:
                return token
            return Token(MLIRTokenKind.STRING_LIT, token.span)
        return token


class TextParser(Parser):
    """xDSL's parser, but for literals of text that is not ASCII."""

    def __init__(self, ctx: Context, input: str | bytes, name: str = "<unknown>") -> None:
        """Reads from the start of a text.

        Args:
            ctx: With the dialects to parse.
            input: The text; bytes are UTF-8.
            name: Of the file, for messages.

        Raises:
            UnicodeDecodeError: Bytes are no UTF-8.
        """
        super().__init__(ctx, "", name)
        text = input.decode() if isinstance(input, bytes) else input
        self._parser_state = ParserState(_Lexer(Input(text, name)))
