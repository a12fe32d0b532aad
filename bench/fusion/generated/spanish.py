"""Spanish reports of a municipality's waterworks, and questions with other forms of their words."""

from __future__ import annotations

from bench.fusion.generated.crossing import Crossing, Matter, Subject
from bench.fusion.question_sets import QuestionSet

QUESTIONS = 48

REPORTS = Crossing(
    subjects=[
        Subject("las bombas de la estación norte", "la bomba de la estación norte"),
        Subject("las válvulas de entrada", "la válvula de entrada"),
        Subject("los contadores de agua", "el contador de agua"),
        Subject("las tuberías del barrio antiguo", "la tubería del barrio antiguo"),
        Subject("los depósitos de reserva", "el depósito de reserva"),
        Subject("los filtros de arena", "el filtro de arena"),
        Subject("las compuertas del canal", "la compuerta del canal"),
        Subject("los motores auxiliares", "el motor auxiliar"),
        Subject("los paneles solares", "el panel solar"),
        Subject("los camiones de reparto", "el camión de reparto"),
        Subject("las oficinas centrales", "la oficina central"),
        Subject("los laboratorios de análisis", "el laboratorio de análisis"),
    ],
    matters=[
        Matter(
            "{} perdían aceite por las juntas y hubo que cambiar los retenes.",
            "no se perdió aceite",
            "¿por qué pierde aceite {}?",
        ),
        Matter(
            "el ayuntamiento inspeccionó {} y exigió mejoras antes del verano.",
            "la inspección se aplazó",
            "¿qué exige el inspector del ayuntamiento para {}?",
        ),
        Matter(
            "el presupuesto para renovar {} subió un doce por ciento respecto al año anterior.",
            "el presupuesto quedó igual",
            "¿cuánto subió el presupuesto para la renovación de {}?",
        ),
        Matter(
            "los vecinos se quejaron del ruido nocturno que producen {}.",
            "ningún vecino se quejó",
            "¿quién presentó una queja por el ruido de {}?",
        ),
        Matter(
            "se firmó un contrato de mantenimiento de cuatro años para {}.",
            "el contrato sigue vigente",
            "¿cuántos años dura el contrato para mantener {}?",
        ),
        Matter(
            "una tormenta dañó {} y la aseguradora pagó la reparación.",
            "la tormenta no causó daños",
            "¿pagó el seguro los daños de la tormenta en {}?",
        ),
        Matter(
            "dos empleados recibieron formación para manejar {} con seguridad.",
            "la formación terminó en marzo",
            "¿qué empleado está formado para el manejo de {}?",
        ),
        Matter(
            "se midió la calidad del agua junto a {} y el cloro superaba el valor permitido.",
            "la calidad del agua era buena",
            "¿dónde se permite menos cloro del medido, cerca de {}?",
        ),
        Matter(
            "la licitación para sustituir {} quedó desierta porque nadie presentó ofertas.",
            "la licitación está abierta",
            "¿por qué no hubo ninguna oferta en la licitación para la sustitución de {}?",
        ),
        Matter(
            "un corte de electricidad detuvo {} durante seis horas.",
            "no hubo cortes de electricidad",
            "¿cuántas horas detuvo un corte eléctrico {}?",
        ),
        Matter(
            "robaron herramientas y cables de {} y se presentó una denuncia.",
            "no faltaba ninguna herramienta",
            "¿se denunció el robo del cable en {}?",
        ),
        Matter(
            "los planos de {} se guardan en el archivo del segundo piso.",
            "los planos se digitalizaron",
            "¿en qué archivo está guardado el plano de {}?",
        ),
    ],
    places=["en la sede del norte", "en el puerto", "en la planta vieja", "junto al río", "en el almacén"],
    frames=[
        (
            "# Acta {number}\n\nLa reunión se celebró {place}. {told} Sobre {other} se dijo que "
            "{mentioned}. La próxima reunión tendrá el mismo orden del día."
        ),
        (
            "# Informe de la semana {number}\n\nEste informe fue redactado {place}. En cuanto a "
            "{other}, {mentioned}. {told} No hay más observaciones para el acta."
        ),
        (
            "# Diario, página {number}\n\nLlovió y no se pudo trabajar en todo el día. {told} En cambio, "
            "{mentioned} en el caso de {other}; además, {again}, según confirmó el equipo {place}."
        ),
    ],
)


def spanish() -> QuestionSet:
    made = REPORTS.question_set("Spanish", "es", questions=QUESTIONS, seed=47)
    questions = [(text.replace(" de el ", " del "), right) for text, right in made.questions]
    return QuestionSet(made.name, made.documents, questions, made.language)
